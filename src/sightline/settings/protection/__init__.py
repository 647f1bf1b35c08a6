"""The protected set: files that configure Sightline, or that other programs execute on their own."""
