source "openstack" "golden" {
  image_name           = "golden"
  instance_name        = "golden-build"
  source_image         = "70a599e0-31e7-49b7-b260-868f441e862b"
  flavor               = "build"
  networks             = ["9b1f3a52-4d0e-4a36-8f0e-1f4a4b7c6e21"]
  ssh_keypair_name     = "workers"
  ssh_private_key_file = "~/.ssh/workers"
  ssh_username         = "debian"

  instance_metadata = {
    "image_props_override_preset"                    = "uefi-secure-boot"
    "image_props_override:hw_vif_multiqueue_enabled" = "true"
    "purpose"                                        = "build"
  }
}

build {
  sources = ["source.openstack.golden"]
}
