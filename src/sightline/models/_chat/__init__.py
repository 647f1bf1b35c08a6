"""Chat Completions: OpenAI, and every server that speaks it (Ollama, llama.cpp, vLLM, OpenRouter, …)."""

from sightline.models._chat._model import ChatModel

__all__ = ["ChatModel"]
