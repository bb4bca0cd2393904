(function () {
  'use strict';

  angular
    .module('horizon.image-props-override')
    .component('imagePropsEditor', {
      bindings: {
        // From the REST view: what the user may override, and use.
        choices: '<',
        presets: '<?',
        // What is overridden to begin with: name to value, and {name, digest} of
        // the preset that it came with.
        initial: '<?',
        preset: '<?',
        // What the image itself has: name to value.
        image: '<',
        // What the cloud says of it, from the asker.
        told: '<',
        // Called with what is asked for whenever that changes: overrides (name to
        // value), and {name, digest} of the preset, or null, that they are laid
        // over; isRight, whether every row is right by itself; all of both.
        onChange: '&'
      },
      require: {form: '^form'},
      // What else there is to say, below what the cloud says of it.
      transclude: true,
      templateUrl: ['horizon.image-props-override.basePath', function (basePath) {
        return basePath + 'editor/editor.html';
      }],
      controller: Editor
    });

  Editor.$inject = [
    '$element',
    '$timeout',
    'horizon.image-props-override.rows'
  ];

  /**
   * The list of properties, by purpose, with what is asked for above it, and the
   * choice of a preset, which fills it.
   *
   * What the template shows is computed when something changes, not when it is
   * drawn: new arrays in each digest would never settle.
   */
  function Editor($element, $timeout, rows) {
    // With more properties than this, groups are closed to begin with.
    var FEW = 12;
    var ctrl = this;
    var told;

    ctrl.groups = [];
    // What this user may not ask for has no row: name to value.
    ctrl.kept = {};
    ctrl.changed = [];
    ctrl.search = '';
    ctrl.asTheImage = gettext('As the image');
    ctrl.withoutIt = gettext('Without it');

    ctrl.$onInit = onInit;
    ctrl.$onChanges = onChanges;
    ctrl.choose = choose;
    ctrl.hasKept = hasKept;
    ctrl.drop = drop;
    ctrl.update = update;
    ctrl.find = find;
    ctrl.add = add;
    ctrl.reset = reset;
    ctrl.show = show;
    ctrl.idOf = idOf;

    function onInit() {
      var from = ctrl.preset;
      var named = from && ctrl.presets.filter(function (preset) {
        return preset.name === from.name;
      })[0];
      ctrl.isLost = Boolean(from && !named);
      ctrl.isOld = Boolean(named && named.digest !== from.digest);
      ctrl.used = named && !ctrl.isOld ? named : null;
      // Nobody knows what a preset was that has changed since.
      ctrl.last = ctrl.used || from && {properties: ctrl.initial};
      fill(ctrl.initial);
    }

    /*
     * Make the rows anew, of what is overridden now; an added member that has no
     * name, or no value, stays.
     */
    function fill(overrides) {
      var added = ctrl.groups.map(function (group) {
        return group.rows.filter(function (row) {
          return row.isAdded;
        });
      });
      ctrl.kept = {};
      Object.keys(overrides || {}).sort().forEach(function (name) {
        ctrl.kept[name] = overrides[name];
      });
      ctrl.groups = groupsOf(ctrl.choices, ctrl.kept, angular.extend(
        {}, ctrl.initial, ctrl.used && ctrl.used.properties));
      added.forEach(function (left, index) {
        var group = ctrl.groups[index];
        var names = group.rows.map(rows.nameOf);
        group.rows = group.rows.concat(left.filter(function (row) {
          return names.indexOf(rows.nameOf(row)) < 0;
        }));
      });
      takeImage();
      find();
      allRows().forEach(function (row) {
        delete ctrl.kept[rows.nameOf(row)];
      });
      update();
      ctrl.groups.forEach(function (group) {
        group.isOpen = group.isOpen || group.changes > 0;
      });
    }

    /**
     * Put the properties of another preset in the place of the last one's; what
     * the user has changed of those stays.
     */
    function choose() {
      var left = overrides();
      angular.forEach(ctrl.last && ctrl.last.properties, function (value, name) {
        if (left[name] === value) {
          delete left[name];
        }
      });
      ctrl.last = ctrl.used;
      fill(angular.extend(left, ctrl.used && ctrl.used.properties));
    }

    function overrides() {
      return angular.extend({}, ctrl.kept, rows.overridesOf(allRows()));
    }

    function onChanges(changes) {
      if (changes.image && !changes.image.isFirstChange()) {
        takeImage();
        find();
        tell();
      }
      if (changes.told && !changes.told.isFirstChange()) {
        mark();
      }
    }

    /*
     * A group for each purpose, in the order in which they come, with rows of what
     * is overridden, and of what is right even if it is not the user's.
     */
    function groupsOf(choices, overrides, given) {
      var groups = [];
      choices.forEach(function (choice) {
        var group = groups[groups.length - 1];
        if (!group || group.title !== choice.purpose) {
          group = {title: choice.purpose, rows: [], families: [], changes: 0};
          group.isOpen = choices.length <= FEW;
          groups.push(group);
        }
        if (choice.prefix === null) {
          group.rows.push(rows.make(
            choice, null, overrides[choice.name], given[choice.name]));
        } else {
          group.families.push(choice);
          Object.keys(overrides).sort().filter(isMember(choice)).forEach(function (name) {
            group.rows.push(rows.make(
              choice, restOf(choice, name), overrides[name], given[name]));
          });
        }
      });
      return groups;
    }

    function isMember(choice) {
      var pattern = new RegExp(choice.name_pattern);
      return function (name) {
        return pattern.test(name);
      };
    }

    function restOf(choice, name) {
      return name.substring(choice.prefix.length);
    }

    function allRows() {
      return [].concat.apply([], ctrl.groups.map(function (group) {
        return group.rows;
      }));
    }

    /*
     * Members of families that the image has get rows, to be overridden or
     * removed; those of another image that nobody touched go.
     */
    function takeImage() {
      var image = ctrl.image || {};
      ctrl.groups.forEach(function (group) {
        group.rows = group.rows.filter(function (row) {
          return !row.isImages || rows.isChanged(row) || rows.nameOf(row) in image;
        });
        var names = group.rows.map(rows.nameOf);
        group.families.forEach(function (choice) {
          Object.keys(image).sort().filter(isMember(choice)).forEach(function (name) {
            if (names.indexOf(name) < 0) {
              var row = rows.make(choice, restOf(choice, name));
              row.isImages = true;
              group.rows.push(row);
            }
          });
        });
        group.rows.forEach(function (row) {
          var own = image[rows.nameOf(row)];
          // Not again where the user has closed it.
          group.isOpen = group.isOpen || angular.isDefined(own) && own !== row.own;
          row.own = own;
        });
      });
    }

    /**
     * Something is asked for, or no longer asked for.
     */
    function update() {
      var all = allRows();
      all.forEach(function (row) {
        row.name = rows.nameOf(row);
        row.own = (ctrl.image || {})[row.name];
        row.isChanged = rows.isChanged(row);
        row.wrong = rows.wrongWith(row, all);
      });
      ctrl.changed = all.filter(rows.isChanged);
      ctrl.groups.forEach(function (group) {
        group.changes = group.rows.filter(rows.isChanged).length;
      });
      ctrl.isRight = all.every(function (row) {
        return !row.wrong;
      });
      ctrl.form.$setValidity('imageProps', ctrl.isRight, ctrl);
      mark();
      tell();
    }

    /*
     * What takes a property out of a preset depends on the image.
     */
    function tell() {
      var asked = overrides();
      var now = {
        overrides: ctrl.used ? rows.beside(ctrl.used, asked, ctrl.image || {}) : asked,
        preset: ctrl.used && {name: ctrl.used.name, digest: ctrl.used.digest},
        isRight: ctrl.isRight,
        all: asked
      };
      if (!angular.equals(now, told)) {
        told = now;
        ctrl.onChange(now);
      }
    }

    /*
     * Put what the cloud refuses next to the rows; what has none, elsewhere.
     */
    function mark() {
      var left = angular.extend({}, ctrl.told.problems);
      ctrl.groups.forEach(function (group) {
        group.isWrong = false;
        group.rows.forEach(function (row) {
          var problem = row.wrong ? null : left[row.name];
          row.refusal = problem && rows.isChanged(row) ? problem.reason : null;
          if (row.refusal) {
            delete left[row.name];
          }
          group.isWrong = group.isWrong || Boolean(row.wrong || row.refusal);
        });
      });
      ctrl.others = Object.keys(left).sort().map(function (name) {
        return {name: name, reason: left[name].reason};
      });
    }

    /**
     * Show what a search finds.
     */
    function find() {
      var words = ctrl.search.toLowerCase().split(/\s+/).filter(Boolean);
      ctrl.isSearching = words.length > 0;
      ctrl.groups.forEach(function (group) {
        group.found = group.rows.filter(function (row) {
          return rows.matches(row, words);
        });
        group.addable = group.families.filter(function (choice) {
          return choice.can_set && rows.matches(rows.make(choice, ''), words);
        });
        group.isShown = group.found.length + group.addable.length > 0;
      });
      ctrl.isNothingFound = !ctrl.groups.some(function (group) {
        return group.isShown;
      });
    }

    /**
     * Add a member of a family.
     */
    function add(group, choice) {
      var row = rows.make(choice, rows.nextMember(choice, group.rows));
      if (choice.values && choice.values.length === 1) {
        // A trait is required, or is not there.
        row.value = choice.values[0];
      }
      row.isAdded = true;
      group.rows.push(row);
      group.isOpen = true;
      find();
      update();
      focus(row);
    }

    /**
     * Stop asking for a property; an added member goes.
     */
    function reset(row) {
      row.removed = false;
      row.value = null;
      row.number = null;
      if (row.isAdded) {
        ctrl.groups.forEach(function (group) {
          group.rows = group.rows.filter(function (other) {
            return other !== row;
          });
        });
        find();
      }
      update();
    }

    function hasKept() {
      return !angular.equals(ctrl.kept, {});
    }

    /**
     * Drop what has no row.
     */
    function drop(name) {
      delete ctrl.kept[name];
      update();
    }

    /**
     * Show the row of a chip.
     */
    function show(row) {
      ctrl.search = '';
      find();
      ctrl.groups.forEach(function (group) {
        group.isOpen = group.isOpen || group.rows.indexOf(row) >= 0;
      });
      focus(row);
    }

    function focus(row) {
      $timeout(function () {
        var found = $element[0].querySelector('#' + idOf(row) + ' :enabled');
        if (found) {
          found.focus();
        }
      });
    }

    /*
     * Names have dots and colons, and rows of a family may have the same.
     */
    function idOf(row) {
      row.id = row.id || 'image-prop-' + (idOf.last = (idOf.last || 0) + 1);
      return row.id;
    }
  }
})();
