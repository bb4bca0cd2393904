"""Nova's functional harness with a virt driver other than libvirt's."""
