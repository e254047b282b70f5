"""The asynchronous client: the form that people edit. `relatum.client.blocking` is made of it, but for the driver."""
