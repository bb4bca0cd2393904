"""Nova's functional harness with another virt driver than libvirt's."""
