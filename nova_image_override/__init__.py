"""Boot-time override of image properties for OpenStack Nova."""
