"""The one writer: commands queue here, are decided in order, and are answered once they are durable."""
