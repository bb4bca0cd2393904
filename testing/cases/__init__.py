"""What can be asked for, and what it takes to act: for proofs and clouds."""
