"""What is spoken over HTTP: the service, the dashboard, labelling pages; tokens and the server under all of them."""
