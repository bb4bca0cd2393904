'use strict';

/*
 * Choices as the plugin's REST view gives them (choices.py), of each kind.
 */
function choice(name, also) {
  return angular.extend({
    name: name,
    prefix: null,
    name_pattern: null,
    numbered: false,
    purpose: 'Disks',
    description: 'What ' + name + ' does.',
    kind: 'string',
    can_set: true,
    removable: true,
    values: null,
    minimum: null,
    maximum: null,
    like: [],
    unlike: [],
    expects: 'a text'
  }, also);
}

var CHOICES = {
  bus: choice('hw_disk_bus', {
    kind: 'enum', values: ['scsi', 'virtio'], like: ['^(?:scsi|virtio)$']
  }),
  menu: choice('hw_boot_menu', {kind: 'boolean', values: ['true', 'false'], purpose: 'Boot'}),
  cores: choice('hw_cpu_cores', {
    kind: 'integer', minimum: 1, maximum: 64, expects: '1 to 64', purpose: 'CPUs'
  }),
  line: choice('os_command_line', {purpose: 'Boot', unlike: ['^secret'], expects: 'no secret'}),
  nodes: choice('hw_numa_cpus.N', {
    prefix: 'hw_numa_cpus.', name_pattern: '^hw_numa_cpus\\.[0-2]$', numbered: true,
    purpose: 'NUMA'
  }),
  trait: choice('trait:NAME', {
    prefix: 'trait:', name_pattern: '^trait:[A-Z0-9_]+$', purpose: 'Traits',
    kind: 'enum', values: ['required']
  })
};
