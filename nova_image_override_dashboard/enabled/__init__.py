"""What a deployer copies or links into openstack_dashboard/local/enabled."""
