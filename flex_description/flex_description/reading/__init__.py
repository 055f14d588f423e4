"""How files are read: bounded in size, time and memory, whoever wrote them."""
