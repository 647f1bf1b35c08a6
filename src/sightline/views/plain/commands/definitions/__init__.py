"""What is found here in files of the user and of the project: agents, slash commands, skills."""
