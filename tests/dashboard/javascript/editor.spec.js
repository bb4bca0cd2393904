'use strict';

describe('The editor', function () {
  var MANY = [CHOICES.cores];
  var $compile, $scope, $timeout, element;

  for (var number = 0; number < 13; number++) {
    MANY.push(angular.extend({}, CHOICES.line, {name: 'os_' + number}));
  }

  beforeEach(module('gettext', 'horizon.image-props-override', 'templates'));
  beforeEach(inject(function (_$compile_, $rootScope, _$timeout_) {
    $compile = _$compile_;
    $timeout = _$timeout_;
    $scope = $rootScope.$new();
    $scope.choices = [CHOICES.bus, CHOICES.cores, CHOICES.nodes, CHOICES.menu, CHOICES.line,
      CHOICES.trait];
    $scope.told = {};
    $scope.asked = jasmine.createSpy('asked');
    $scope.used = jasmine.createSpy('used');
  }));
  afterEach(function () {
    element.remove();
  });

  function show(also) {
    angular.extend($scope, also);
    element = $compile(
      '<form name="form"><image-props-editor choices="choices" presets="presets"' +
      ' initial="initial" preset="preset" image="image" told="told"' +
      ' on-change="asked(overrides, isRight); used(preset)">' +
      '</image-props-editor></form>')($scope);
    // Focus is given only to what is part of a page.
    angular.element(document.body).append(element);
    $scope.$apply();
    return element.find('image-props-editor').controller('imagePropsEditor');
  }

  function find(selector) {
    return element[0].querySelector(selector);
  }

  function texts(selector) {
    return [].map.call(element[0].querySelectorAll(selector), function (each) {
      return each.textContent.replace(/\s+/g, ' ').trim();
    });
  }

  function row(name) {
    return find('[data-property="' + name + '"]');
  }

  function click(selector) {
    find(selector).click();
    $scope.$apply();
  }

  function write(name, value, selector) {
    var input = row(name).querySelector(selector || 'input, select');
    input.value = value;
    input.dispatchEvent(new Event(input.tagName === 'SELECT' ? 'change' : 'input'));
    $scope.$apply();
  }

  function last() {
    return $scope.asked.calls.mostRecent().args;
  }

  describe('shows', function () {
    it('a group for each purpose, in order', function () {
      show();
      expect(texts('.image-props-heading')).toEqual(['Disks', 'CPUs', 'NUMA', 'Boot', 'Traits']);
    });

    it('all rows of few properties at once, and of many none', function () {
      show();
      expect(row('hw_disk_bus')).not.toBeNull();
      element.remove();
      show({choices: MANY});
      expect(row('hw_cpu_cores')).toBeNull();
      click('.image-props-heading');
      expect(row('hw_cpu_cores')).not.toBeNull();
      click('.image-props-heading');
      expect(row('hw_cpu_cores')).toBeNull();
    });

    it('what the image has, in groups that are open until the user closes them', function () {
      show({choices: MANY, image: {os_1: 'a'}});
      expect(row('hw_cpu_cores')).toBeNull();
      expect(row('os_1')).not.toBeNull();
      find('.image-props-group:last-child .image-props-heading').click();
      $scope.image = {os_1: 'a', os_2: undefined};
      $scope.$apply();
      expect(row('os_1')).toBeNull();
      $scope.image = {os_1: 'a', os_2: 'b'};
      $scope.$apply();
      expect(row('os_2')).not.toBeNull();
    });

    it('what is overridden to begin with, among many properties', function () {
      show({choices: MANY, initial: {hw_cpu_cores: '2'}});
      expect(row('hw_cpu_cores')).not.toBeNull();
      expect(row('os_1')).toBeNull();
    });

    it('an input of the property\'s kind', function () {
      show();
      expect(row('hw_disk_bus').querySelector('select')).not.toBeNull();
      expect(row('hw_cpu_cores').querySelector('input').type).toBe('number');
      expect(row('os_command_line').querySelector('input').type).toBe('text');
      expect(row('hw_boot_menu').querySelectorAll('.btn-group button').length).toBe(3);
    });

    it('no input for what may only be removed', function () {
      show({
        choices: [angular.extend({}, CHOICES.bus, {can_set: false})],
        image: {hw_disk_bus: 'virtio'}
      });
      expect(row('hw_disk_bus').querySelector('select')).toBeNull();
      click('.image-props-remove');
      expect(last()).toEqual([{hw_disk_bus: null}, true]);
    });

    it('a label and a description of each input', function () {
      show();
      var input = row('hw_cpu_cores').querySelector('input');
      expect(row('hw_cpu_cores').querySelector('label').getAttribute('for')).toBe(input.id);
      expect(input.getAttribute('aria-describedby').split(' ').map(function (id) {
        var found = document.getElementById(id);
        return found && found.textContent;
      })[0]).toBe('What hw_cpu_cores does.');
    });

    it('what is overridden to begin with', function () {
      show({initial: {hw_disk_bus: 'scsi', hw_cpu_cores: '2', 'hw_numa_cpus.1': '0-1',
                      'trait:CUSTOM_A': 'required', os_command_line: null}});
      expect(last()[0]).toEqual({hw_disk_bus: 'scsi', hw_cpu_cores: '2', 'hw_numa_cpus.1': '0-1',
                                 'trait:CUSTOM_A': 'required', os_command_line: null});
      expect(texts('.image-props-chip a')).toEqual([
        'hw_disk_bus=scsi', 'hw_cpu_cores=2', 'hw_numa_cpus.1=0-1', 'os_command_line: removed',
        'trait:CUSTOM_A=required']);
    });

    it('that nothing is overridden', function () {
      show();
      expect(find('.image-props-none')).not.toBeNull();
      expect(last()).toEqual([{}, true]);
    });

    it('what the cloud says of what is accepted', function () {
      show({initial: {hw_disk_bus: 'scsi', hw_cpu_cores: '2'}, told: {
        state: 'accepted',
        accepted: {overridden: {hw_disk_bus: {drivers: {ironic: 'ignored'}}, hw_cpu_cores: {}}}
      }});
      expect(texts('[role=status]')).toEqual(['The cloud accepts this.']);
      expect(texts('.image-props-note').length).toBe(1);
      expect(texts('.image-props-note')[0]).toContain('ironic: ignored');
    });
  });

  describe('takes', function () {
    it('a value of each kind', function () {
      show();
      write('hw_disk_bus', 'string:scsi');
      write('hw_cpu_cores', '4');
      write('os_command_line', 'quiet');
      row('hw_boot_menu').querySelector('[data-value=true]').click();
      $scope.$apply();
      expect(last()).toEqual([{
        hw_disk_bus: 'scsi', hw_cpu_cores: '4', os_command_line: 'quiet', hw_boot_menu: 'true'
      }, true]);
      expect(texts('.badge')).toEqual(['1', '1', '2']);
    });

    it('nothing, and so the image\'s', function () {
      show({initial: {hw_boot_menu: 'true'}});
      row('hw_boot_menu').querySelector('button').click();
      $scope.$apply();
      expect(last()).toEqual([{}, true]);
    });

    it('no number beyond its limits, and says so there', function () {
      show();
      write('hw_cpu_cores', '65');
      expect(last()[1]).toBe(false);
      expect($scope.form.$valid).toBe(false);
      expect(row('hw_cpu_cores').textContent).toContain('Must be 1 to 64.');
      write('hw_cpu_cores', '64');
      expect(last()).toEqual([{hw_cpu_cores: '64'}, true]);
      expect($scope.form.$valid).toBe(true);
    });

    it('a removal, and takes it back', function () {
      show({image: {hw_disk_bus: 'virtio'}});
      click('.image-props-remove');
      expect(last()[0]).toEqual({hw_disk_bus: null});
      expect(row('hw_disk_bus').querySelector('select').disabled).toBe(true);
      expect(row('hw_disk_bus').querySelector('option').textContent).toBe('Without it');
      click('.image-props-remove');
      expect(last()[0]).toEqual({});
    });

    it('a removal in place of a wrong number, which may come back', function () {
      show({image: {hw_cpu_cores: '2'}});
      write('hw_cpu_cores', '65');
      click('.image-props-remove');
      expect(last()).toEqual([{hw_cpu_cores: null}, true]);
      expect($scope.form.$valid).toBe(true);
      click('.image-props-remove');
      expect(row('hw_cpu_cores').querySelector('input').value).toBe('65');
      expect($scope.form.$valid).toBe(false);
    });

    it('no removal of what the image does not have, or of what must stay', function () {
      show({
        choices: [CHOICES.bus, angular.extend({}, CHOICES.line, {removable: false})],
        image: {os_command_line: 'quiet'}
      });
      expect(find('.image-props-remove')).toBeNull();
    });

    it('a chip\'s cross', function () {
      show({initial: {hw_disk_bus: 'scsi', os_command_line: null}});
      click('.image-props-chip button');
      click('.image-props-chip button');
      expect(last()[0]).toEqual({});
    });
  });

  describe('finds', function () {
    function search(words) {
      var field = find('#image-props-search');
      field.value = words;
      field.dispatchEvent(new Event('input'));
      $timeout.flush();
    }

    it('properties by words, with their groups open', function () {
      show();
      search('Disk does');
      expect(texts('.image-props-heading')).toEqual(['Disks']);
      expect(row('hw_disk_bus')).not.toBeNull();
    });

    it('families too', function () {
      show();
      search('numa');
      expect(texts('.image-props-add')).toEqual(['Add hw_numa_cpus.N']);
    });

    it('nothing, and says so', function () {
      show();
      search('zebra');
      expect(texts('p[role=status]')).toEqual(
        ['No property is found. The list has only what this cloud lets you override.']);
      expect(texts('.image-props-heading')).toEqual([]);
    });

    it('a property by the value that the image has', function () {
      show({image: {os_command_line: 'quiet'}});
      search('quiet');
      expect(texts('.image-props-heading')).toEqual(['Boot']);
    });

    it('the row of a chip, and gives it the focus', function () {
      var ctrl = show({initial: {os_command_line: 'quiet'}});
      search('numa');
      ctrl.groups.forEach(function (group) {
        group.isOpen = false;
      });
      click('.image-props-chip a');
      $timeout.flush();
      expect(document.activeElement).toBe(row('os_command_line').querySelector('input'));
    });
  });

  describe('with families', function () {
    it('adds the first free member, with the focus', function () {
      show({initial: {'hw_numa_cpus.0': '0'}});
      click('[data-family="hw_numa_cpus.N"]');
      $timeout.flush();
      expect(row('hw_numa_cpus.1').contains(document.activeElement)).toBe(true);
      expect(last()[0]).toEqual({'hw_numa_cpus.0': '0'});
      expect(texts('.image-props-empty')).toEqual(['It has no value yet, and is not overridden.']);
      write('hw_numa_cpus.1', '1', '.image-props-control input');
      expect(texts('.image-props-empty')).toEqual([]);
    });

    it('is not held up by a member that has neither name nor value', function () {
      show({initial: {'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1', 'hw_numa_cpus.2': '2'}});
      click('[data-family="hw_numa_cpus.N"]');
      expect(texts('.image-props-empty').length).toBe(1);
      expect($scope.form.$valid).toBe(true);
    });

    it('adds a member with the only value that there is', function () {
      show();
      click('[data-family="trait:NAME"]');
      expect(last()).toEqual([{'trait:': 'required'}, false]);
      write('trait:', 'CUSTOM_A', '.image-props-member');
      expect(last()).toEqual([{'trait:CUSTOM_A': 'required'}, true]);
    });

    it('adds members of which Glance lets the user set some, and others only remove', function () {
      function part(pattern, canSet) {
        return angular.extend({}, CHOICES.nodes, {name_pattern: pattern, can_set: canSet});
      }
      show({choices: [
        part('^hw_numa_cpus\\.0$', false), part('^hw_numa_cpus\\.1$', true),
        part('^hw_numa_cpus\\.2$', true)
      ]});
      expect(texts('.image-props-add').length).toBe(2);
      click('.image-props-add');
      expect(row('hw_numa_cpus.1')).not.toBeNull();
    });

    it('removes an added member', function () {
      show();
      click('[data-family="trait:NAME"]');
      click('.image-props-reset');
      expect(last()).toEqual([{}, true]);
      expect(row('trait:')).toBeNull();
    });

    it('shows the members of the image, of another image those', function () {
      show({image: {'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1'}});
      expect(row('hw_numa_cpus.1')).not.toBeNull();
      $scope.image = {'hw_numa_cpus.0': '0-1'};
      $scope.$apply();
      expect(row('hw_numa_cpus.1')).toBeNull();
      expect(texts('.image-props-own code')).toEqual(['0-1']);
    });

    it('keeps a member of an image that is gone where it is overridden', function () {
      show({image: {'hw_numa_cpus.0': '0'}});
      write('hw_numa_cpus.0', '0-3');
      $scope.image = undefined;
      $scope.$apply();
      expect(row('hw_numa_cpus.0')).not.toBeNull();
      expect(find('.image-props-own')).toBeNull();
    });

    it('gives no focus to what is no longer there', function () {
      var ctrl = show({initial: {'hw_numa_cpus.0': '0'}});
      var gone = ctrl.groups[2].rows[0];
      ctrl.groups[2].rows = [];
      ctrl.show(gone);
      $scope.$apply();
      $timeout.flush();
      expect(element[0].contains(document.activeElement)).toBe(false);
    });
  });

  describe('with what this user may not set', function () {
    beforeEach(function () {
      show({initial: {os_secret: 'x', os_gone: null, hw_disk_bus: 'ide'}});
    });

    it('keeps it, a value that only somebody else may set too', function () {
      expect(last()).toEqual([{os_secret: 'x', os_gone: null, hw_disk_bus: 'ide'}, true]);
      expect(texts('.image-props-kept .image-props-chip')[0]).toContain('os_gone: removed');
      expect(texts('.image-props-kept .image-props-chip')[1]).toContain('os_secret=x');
      expect(row('hw_disk_bus').querySelector('select').value).toBe('string:ide');
    });

    it('drops it, if asked', function () {
      click('.image-props-kept button');
      click('.image-props-kept button');
      expect(last()).toEqual([{hw_disk_bus: 'ide'}, true]);
      expect(find('.image-props-kept')).toBeNull();
    });

    it('says that nothing is overridden only where that is so', function () {
      write('hw_disk_bus', '');
      expect(find('.image-props-none')).toBeNull();
    });
  });

  describe('with presets', function () {
    var IDE = {
      name: 'ide', digest: '1', description: 'An old disk', flavors: ['old', 'older'],
      properties: {hw_disk_bus: 'ide', hw_cpu_cores: '2', os_secret: 'x'}
    };
    var MENU = {
      name: 'menu', description: 'A menu', flavors: [], properties: {hw_boot_menu: 'true',
                                                                     os_command_line: null}
    };

    function offer(also) {
      return show(angular.extend({presets: [IDE, MENU]}, also));
    }

    function choose(label) {
      var select = find('#image-props-preset');
      select.value = [].filter.call(select.options, function (option) {
        return option.textContent.indexOf(label) === 0;
      })[0].value;
      select.dispatchEvent(new Event('change'));
      $scope.$apply();
    }

    function used() {
      var preset = $scope.used.calls.mostRecent().args[0];
      return preset && preset.name;
    }

    it('shows no choice where there are none', function () {
      show({presets: []});
      expect(find('#image-props-preset')).toBeNull();
    });

    it('offers each with its description, and the flavors of the one that is chosen', function () {
      offer();
      expect(texts('#image-props-preset option')).toEqual([
        'No preset', 'ide: An old disk', 'menu: A menu']);
      expect(find('.image-props-flavors')).toBeNull();
      choose('ide');
      expect(texts('.image-props-flavors')).toEqual(['It is meant for these flavors: old, older']);
      choose('menu');
      expect(find('.image-props-flavors')).toBeNull();
    });

    it('fills the list, and asks for no more than the preset', function () {
      offer();
      expect(used()).toBeNull();
      choose('ide');
      expect(texts('.image-props-chip a')).toEqual(['hw_disk_bus=ide', 'hw_cpu_cores=2']);
      expect(texts('.image-props-kept .image-props-chip')[0]).toContain('os_secret=x');
      expect(last()).toEqual([{}, true]);
      expect(used()).toBe('ide');
    });

    it('asks for what the user has changed, and takes out what the user has dropped', function () {
      offer();
      choose('ide');
      write('hw_cpu_cores', '4');
      click('.image-props-kept button');
      click('.image-props-chip button');
      expect(last()).toEqual([{hw_disk_bus: null, hw_cpu_cores: '4', os_secret: null}, true]);
      expect(used()).toBe('ide');
    });

    it('takes a property out anew when the image has it, and asks once', function () {
      offer();
      choose('ide');
      click('.image-props-chip:not(.label-default) button');
      expect(last()[0]).toEqual({hw_disk_bus: null});
      var calls = $scope.asked.calls.count();
      $scope.image = {hw_disk_bus: 'virtio'};
      $scope.$apply();
      expect(last()[0]).toEqual({hw_disk_bus: 'virtio'});
      $scope.image = {hw_disk_bus: 'virtio', os_distro: 'debian'};
      $scope.$apply();
      expect($scope.asked.calls.count()).toBe(calls + 1);
    });

    it('puts another in its place, and keeps what the user has asked for', function () {
      offer();
      write('os_command_line', 'quiet');
      choose('ide');
      write('hw_cpu_cores', '4');
      choose('menu');
      expect(texts('.image-props-chip a')).toEqual([
        'hw_cpu_cores=4', 'hw_boot_menu=true', 'os_command_line: removed']);
      expect(last()).toEqual([{hw_cpu_cores: '4'}, true]);
      choose('No preset');
      expect(last()).toEqual([{hw_cpu_cores: '4'}, true]);
      expect(used()).toBeNull();
    });

    it('still says what is wrong of a value that the user has entered before', function () {
      offer();
      write('hw_cpu_cores', '65');
      choose('menu');
      expect(last()).toEqual([{hw_cpu_cores: '65'}, false]);
      expect(texts('.image-props-error')).toEqual(['Must be 1 to 64.']);
      choose('ide');
      expect(last()).toEqual([{}, true]);
    });

    it('keeps added members that have no name or no value yet, as they are', function () {
      offer();
      click('[data-family="trait:NAME"]');
      click('[data-family="hw_numa_cpus.N"]');
      choose('menu');
      expect(last()).toEqual([{'trait:': 'required'}, false]);
      expect(find('.image-props-kept')).toBeNull();
      expect(row('trait:').querySelector('.image-props-member')).not.toBeNull();
      expect(texts('.image-props-empty').length).toBe(1);
    });

    it('makes no second row of an added member that it has, too', function () {
      offer();
      click('[data-family="hw_numa_cpus.N"]');
      MENU.properties['hw_numa_cpus.0'] = '1';
      choose('menu');
      expect(element.find('[data-property="hw_numa_cpus.0"]').length).toBe(1);
      expect(last()).toEqual([{}, true]);
      delete MENU.properties['hw_numa_cpus.0'];
    });

    it('keeps a number that cannot be read, and marks it above the list', function () {
      var ctrl = offer();
      // What AngularJS makes of "1-4" in a browser.
      ctrl.groups[1].rows[0].number = undefined;
      ctrl.update();
      $scope.$apply();
      expect(texts('.image-props-chip a')).toEqual(['hw_cpu_cores=']);
      expect(texts('.image-props-wrong')).toEqual(['1']);
      choose('menu');
      expect(texts('.image-props-error')).toEqual(['Must be 1 to 64.']);
      expect(last()[1]).toBe(false);
    });

    it('begins with that of an instance', function () {
      offer({preset: {name: 'ide', digest: '1'}, initial: {hw_disk_bus: 'ide', hw_cpu_cores: '2'}});
      expect(find('#image-props-preset').selectedOptions[0].textContent).toBe('ide: An old disk');
      expect(last()).toEqual([{os_secret: null}, true]);
    });

    it('begins with none where that of an instance is not offered', function () {
      offer({preset: {name: 'gone', digest: '1'}, initial: {hw_disk_bus: 'ide'}});
      expect(find('#image-props-preset').selectedOptions[0].textContent).toBe('No preset');
      expect(last()).toEqual([{hw_disk_bus: 'ide'}, true]);
      expect(used()).toBeNull();
    });

    it('begins with none, and with the old values, where it has changed since', function () {
      offer({preset: {name: 'ide', digest: '0'}, initial: {hw_disk_bus: 'ide', hw_cpu_cores: '8'}});
      expect(find('#image-props-preset').selectedOptions[0].textContent).toBe('No preset');
      expect(last()).toEqual([{hw_disk_bus: 'ide', hw_cpu_cores: '8'}, true]);
      write('os_command_line', 'quiet');
      expect(last()[0]).toEqual(
        {hw_disk_bus: 'ide', hw_cpu_cores: '8', os_command_line: 'quiet'});
      expect(used()).toBeNull();
    });

    it('puts one that is chosen in the place of the old one, not of what is new', function () {
      offer({preset: {name: 'ide', digest: '0'}, initial: {
        hw_disk_bus: 'virtio', hw_cpu_cores: '8', hw_boot_menu: 'false', os_gone: null
      }});
      write('os_command_line', 'quiet');
      choose('ide');
      expect(last()).toEqual([{os_command_line: 'quiet'}, true]);
      expect(used()).toBe('ide');
      choose('No preset');
      expect(last()).toEqual([{os_command_line: 'quiet'}, true]);
    });

    it('says which preset of an instance is lost, or has changed since', function () {
      [
        [{name: 'ide', digest: '1'}, 0, 0], [{name: 'ide', digest: '0'}, 0, 1],
        [{name: 'gone', digest: '1'}, 1, 0], [null, 0, 0]
      ].forEach(function (each) {
        offer({preset: each[0], initial: {}});
        expect([texts('.image-props-lost').length, texts('.image-props-old').length])
          .toEqual(each.slice(1));
        element.remove();
      });
    });

    it('shows no search where there is nothing else', function () {
      offer({choices: []});
      choose('ide');
      expect(find('#image-props-search')).toBeNull();
      expect(texts('p[role=status]')).toEqual([]);
      expect(last()).toEqual([{}, true]);
    });

    it('tells what is refused of what has no row', function () {
      offer();
      choose('ide');
      $scope.told = {problems: {os_secret: {reason: 'of preset ide: no'}}};
      $scope.$apply();
      expect(texts('.image-props-others div')).toEqual(['os_secret: of preset ide: no']);
    });
  });

  describe('of what the cloud refuses', function () {
    function refuse(problems) {
      $scope.told = {state: 'refused', problems: problems, message: ''};
      $scope.$apply();
    }

    it('says what is to be done, or that it may be gone', function () {
      show();
      refuse({hw_disk_bus: {reason: 'no'}});
      expect(texts('[role=status]')).toEqual([
        'The cloud refuses this. Correct what is marked below.']);
      $scope.told = {state: 'refused', problems: {}, message: 'Quota exceeded.'};
      $scope.$apply();
      expect(texts('[role=status]')).toEqual([
        'The cloud refuses this for now. You can try it all the same. Quota exceeded.']);
    });

    it('marks every kind of input for screen readers', function () {
      var values = {hw_disk_bus: 'scsi', hw_cpu_cores: '2', hw_boot_menu: 'true',
                    os_command_line: 'quiet'};
      show({initial: values});
      function marked() {
        return Object.keys(values).map(function (name) {
          var input = row(name).querySelector('[aria-invalid]');
          var text = document.getElementById(
            input.getAttribute('aria-describedby').split(' ').pop());
          return [input.getAttribute('aria-invalid'), text && text.textContent];
        });
      }
      expect(marked()).toEqual(Object.keys(values).map(function () {
        return ['false', null];
      }));
      var problems = {};
      Object.keys(values).forEach(function (name) {
        problems[name] = {reason: 'no'};
      });
      refuse(problems);
      expect(marked()).toEqual(Object.keys(values).map(function () {
        return ['true', 'no'];
      }));
    });

    it('tells at the property, and in its group', function () {
      show({initial: {hw_disk_bus: 'scsi'}});
      refuse({hw_disk_bus: {reason: 'not on this cloud'}});
      expect(row('hw_disk_bus').querySelector('[role=alert]').textContent)
        .toBe('not on this cloud');
      expect(find('.badge.image-props-wrong')).not.toBeNull();
      expect(find('.label-danger')).not.toBeNull();
      expect(find('.image-props-others')).toBeNull();
    });

    it('tells above the list where the property has no row, or is not asked for', function () {
      show();
      refuse({os_secret: {reason: 'not yours'}, hw_disk_bus: {reason: 'of the flavor'}});
      expect(texts('.image-props-others div')).toEqual([
        'hw_disk_bus: of the flavor', 'os_secret: not yours']);
    });

    it('says nothing more where a value is wrong by itself', function () {
      show();
      write('hw_cpu_cores', '65');
      refuse({hw_cpu_cores: {reason: 'too many'}});
      expect(texts('.image-props-error')).toEqual(['Must be 1 to 64.']);
    });
  });
});
