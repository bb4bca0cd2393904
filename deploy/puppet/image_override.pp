# Boot-time override of image properties, beside puppet-nova's own classes.
#
# @param api  whether nova-api runs here
# @param compute  whether nova-compute runs here
# @param allowed_properties  [image_override] allowed_properties
# @param compute_command  how nova-compute is started, with its arguments
class image_override (
  Enum['present', 'absent'] $ensure = 'present',
  Boolean $api = false,
  Boolean $compute = false,
  String $allowed_properties = '',
  String $package = 'python3-nova-image-override',
  String $compute_service = 'nova-compute',
  String $compute_command = '/usr/bin/nova-compute-image-override --log-file=/var/log/nova/nova-compute.log',
) {
  # The package stays when the rest goes, so that no service misses it.
  package { $package:
    ensure => present,
  }

  if $api {
    $factory = $ensure ? {
      'present' => 'nova_image_override.api.router:APIRouterV21.factory',
      default   => 'nova.api.openstack.compute:APIRouterV21.factory',
    }
    nova_api_paste_ini { 'app:osapi_compute_app_v21/paste.app_factory':
      value   => $factory,
      require => Package[$package],
    }
    nova_config { 'image_override/allowed_properties':
      ensure => $ensure,
      value  => $allowed_properties,
    }
  }

  if $compute {
    $folder = "/etc/systemd/system/${compute_service}.service.d"
    file { $folder:
      ensure => directory,
    }
    file { "${folder}/image-override.conf":
      ensure  => $ensure,
      content => "[Service]\nExecStart=\nExecStart=${compute_command}\n",
      require => Package[$package],
    }
    # The title that puppet-nova gives it; the unit can have another name.
    File["${folder}/image-override.conf"] ~> Service<| title == 'nova-compute' |>
  }
}
