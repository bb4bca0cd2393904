resource "openstack_compute_instance_v2" "guest" {
  name         = "guest"
  image_id     = "70a599e0-31e7-49b7-b260-868f441e862b"
  flavor_id    = "a1c0ffee-0e5b-4a86-a0c5-5b1f3b7a9d42"
  network_mode = "none"

  metadata = {
    "image_props_override_preset"                    = "uefi-secure-boot"
    "image_props_override:hw_vif_multiqueue_enabled" = "true"
    "purpose"                                        = "worker"
  }
}
