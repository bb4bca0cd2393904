'use strict';

describe('Rows of the editor', function () {
  var rows;

  beforeEach(module('horizon.image-props-override'));
  beforeEach(inject(['horizon.image-props-override.rows', function (found) {
    rows = found;
  }]));

  function row(choice, value, rest) {
    return rows.make(choice, rest === undefined ? null : rest, value);
  }

  function wrong(made, others) {
    return rows.wrongWith(made, [made].concat(others || []));
  }

  describe('what is asked for', function () {
    it('is nothing of a row without a value, or with an emptied text', function () {
      expect(rows.isChanged(row(CHOICES.bus))).toBe(false);
      expect(rows.overridesOf([row(CHOICES.bus), row(CHOICES.cores), row(CHOICES.line, '')]))
        .toEqual({});
    });

    it('is a string, or null to remove the image\'s property, by the whole name', function () {
      expect(rows.overridesOf([
        row(CHOICES.bus, 'scsi'), row(CHOICES.cores, '0'), row(CHOICES.line, null),
        row(CHOICES.nodes, '0-3', '1'), row(CHOICES.trait, 'required', '')
      ])).toEqual({
        hw_disk_bus: 'scsi', hw_cpu_cores: '0', os_command_line: null,
        'hw_numa_cpus.1': '0-3', 'trait:': 'required'
      });
    });
  });

  describe('what is asked for beside a preset', function () {
    var IDE = {properties: {hw_disk_bus: 'ide', hw_rng_model: null}};

    function beside(asked, image) {
      return rows.beside(IDE, angular.extend({}, IDE.properties, asked), image || {});
    }

    it('is nothing where it is asked for as it is', function () {
      expect(beside({})).toEqual({});
    });

    it('is what differs from it, and what it does not have', function () {
      expect(beside({hw_disk_bus: 'scsi', hw_rng_model: 'virtio', hw_boot_menu: 'true'})).toEqual({
        hw_disk_bus: 'scsi', hw_rng_model: 'virtio', hw_boot_menu: 'true'
      });
    });

    it('is null for what is taken out of it', function () {
      expect(beside({hw_disk_bus: undefined})).toEqual({hw_disk_bus: null});
    });

    it('is the image\'s own value of what is to stay as the image has it', function () {
      expect(beside({hw_disk_bus: undefined, hw_rng_model: undefined}, {
        hw_disk_bus: 'virtio', hw_rng_model: 'virtio'
      })).toEqual({hw_disk_bus: 'virtio', hw_rng_model: 'virtio'});
    });

    it('is null to remove what the image has', function () {
      expect(beside({hw_disk_bus: null}, {hw_disk_bus: 'virtio'})).toEqual({hw_disk_bus: null});
    });
  });

  describe('what is wrong without asking the cloud', function () {
    it('is nothing of what a preset or an instance has, and is that of another', function () {
      var made = rows.make(CHOICES.bus, null, 'ide', 'ide');
      expect(wrong(made)).toBeNull();
      expect(made.values).toEqual(['scsi', 'virtio', 'ide']);
      expect(CHOICES.bus.values).toEqual(['scsi', 'virtio']);
      made.value = 'fdc';
      expect(wrong(made)).toBe('Must be a text.');
    });

    it('is nothing of a row that asks for nothing', function () {
      expect(wrong(row(CHOICES.trait, undefined, 'not a name'))).toBeNull();
    });

    it('is nothing of a value that the schema takes', function () {
      expect(wrong(row(CHOICES.bus, 'scsi'))).toBeNull();
      expect(wrong(row(CHOICES.cores, '64'))).toBeNull();
      expect(wrong(row(CHOICES.trait, 'required', 'CUSTOM_RAID5'))).toBeNull();
    });

    it('is no value of a property that is removed', function () {
      expect(wrong(row(CHOICES.line, null))).toBeNull();
    });

    it('is a value that no pattern takes', function () {
      expect(wrong(row(CHOICES.bus, 'nvme'))).toBe('Must be a text.');
    });

    it('is a value that a deployer excludes', function () {
      expect(wrong(row(CHOICES.line, 'secret=1'))).toBe('Must be no secret.');
    });

    it('is a number beyond either limit', function () {
      expect(wrong(row(CHOICES.cores, '0'))).toBe('Must be 1 to 64.');
      expect(wrong(row(CHOICES.cores, '65'))).toBe('Must be 1 to 64.');
    });

    it('is a number that cannot be read, unless the property is removed', function () {
      var made = row(CHOICES.cores, '2');
      made.number = undefined;
      expect(wrong(made)).toBe('Must be 1 to 64.');
      made.removed = true;
      expect(wrong(made)).toBeNull();
    });

    it('is a text of more than 255 characters', function () {
      expect(wrong(row(CHOICES.line, 'x'.repeat(255)))).toBeNull();
      expect(wrong(row(CHOICES.line, 'x'.repeat(256)))).toBe('Must be no secret.');
    });

    it('is a member\'s name that no pattern takes', function () {
      expect(wrong(row(CHOICES.nodes, '0', '3')))
        .toBe('hw_numa_cpus.3 is not a name that you may use.');
    });

    it('is a member that is there twice', function () {
      expect(wrong(row(CHOICES.nodes, '0', '1'), [row(CHOICES.nodes, '1', '1')]))
        .toBe('hw_numa_cpus.1 is there more than once.');
    });

    it('is not a second member that asks for nothing', function () {
      expect(wrong(row(CHOICES.nodes, '0', '1'), [row(CHOICES.nodes, undefined, '1')])).toBeNull();
    });
  });

  describe('a search', function () {
    it('finds each of its words in name, description, purpose or values', function () {
      expect(rows.matches(row(CHOICES.bus), ['disk_bus'])).toBe(true);
      expect(rows.matches(row(CHOICES.bus), ['disks', 'does'])).toBe(true);
      expect(rows.matches(row(CHOICES.bus), [CHOICES.bus.expects.slice(2)])).toBe(true);
      expect(rows.matches(row(CHOICES.bus), [])).toBe(true);
      expect(rows.matches(row(CHOICES.bus), ['busdoes'])).toBe(true);
    });

    it('does not find what lacks one of them', function () {
      expect(rows.matches(row(CHOICES.bus), ['disks', 'boot'])).toBe(false);
    });
  });

  describe('the next member of a family', function () {
    it('has the first free number', function () {
      expect(rows.nextMember(CHOICES.nodes, [])).toBe('0');
      expect(rows.nextMember(CHOICES.nodes, [
        row(CHOICES.nodes, '0', '0'), row(CHOICES.nodes, '1', '2')
      ])).toBe('1');
    });

    it('has none where members have names', function () {
      expect(rows.nextMember(CHOICES.trait, [])).toBe('');
    });

    it('has none where all are taken', function () {
      expect(rows.nextMember(CHOICES.nodes, ['0', '1', '2'].map(function (number) {
        return row(CHOICES.nodes, '0', number);
      }))).toBe('');
    });
  });
});
