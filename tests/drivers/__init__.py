"""What an override does with each virt driver that Nova ships."""
