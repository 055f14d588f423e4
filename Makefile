# `make help` explains the targets. With ROS 2 sourced it is used; else one from the Python index is.
SHELL := /bin/bash
PYTHON ?= python3
IN_ENV := source ./env.sh &&
PYTEST_ARGS ?=
NOBLE_PYTHON ?= python3.12
NOBLE_TESTS ?= flex_description/test flex_dynamics/test flex_control/test

.DEFAULT_GOAL := help
.PHONY: help setup sim animation test test-noble nightly view bench validate lint lint-ament docs \
        pictures lock clean

help:  ## say what each target does
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
	    printf '  make %-10s %s\n' "$$name" "$$text"; done

setup:  ## get and build what is needed (ROS 2 included where there is none); again: does only what changed
	@$(PYTHON) bare/setup.py

sim: setup  ## run the default robot's manoeuvre through the whole ROS graph; table and pictures in results/
	@$(IN_ENV) python3 -m flex_bringup.demo

animation: setup  ## the same, and the moving picture of README.md anew
	@$(IN_ENV) python3 -m flex_bringup.demo --animation doc/cibicik_arm.gif

view: setup  ## the same, to be seen: in RViz if installed, else in the browser
	@$(IN_ENV) ros2 launch flex_bringup view.launch.py

test: setup  ## run every test
	@$(PYTHON) bare/setup.py browser
	@$(PYTHON) bare/setup.py study
	@$(IN_ENV) python3 -m pytest $(PYTEST_ARGS)

# Without ROS, which has no wheels for these versions: what needs it is left out.
test-noble:  ## run the libraries' tests with the versions of Ubuntu 24.04 (needs python3.12)
	@command -v $(NOBLE_PYTHON) > /dev/null || { echo 'make test-noble: expected $(NOBLE_PYTHON), found none;' \
	    'install Python 3.12, or name it by NOBLE_PYTHON=' >&2; exit 1; }
	@test -x build/noble/bin/python || $(NOBLE_PYTHON) -m venv build/noble
	@build/noble/bin/python -m pip install --quiet --require-hashes --no-deps \
	    -r bare/requirements-noble.txt
	@mkdir -p build/noble/info; for package in flex_description flex_dynamics flex_control; do \
	    (cd $$package && ../build/noble/bin/python setup.py --quiet egg_info --egg-base \
	     ../build/noble/info) || exit 1; done    # controllers are found by their entry points
	@PYTHONPATH=flex_description:flex_dynamics:flex_control:build/noble/info build/noble/bin/python -m pytest \
	    $(NOBLE_TESTS) --ignore=flex_dynamics/test/test_simulator_parts.py $(PYTEST_ARGS)

nightly: setup  ## identities on 10,000 new random robots, 100,000 mutated descriptions, 300,000 mutated messages, 10 min under garbage, 3 min on a busy machine: two hours
	@$(IN_ENV) HYPOTHESIS_PROFILE=nightly python3 -m pytest flex_dynamics/test/test_properties.py $(PYTEST_ARGS)
	@$(IN_ENV) python3 test/fuzz/descriptions.py --count 100000 --seed $$(date +%Y%m%d)    # 15 min of one core
	@$(IN_ENV) python3 test/fuzz/messages.py --count 2000 --seed $$(date +%Y%m%d)
	@$(IN_ENV) python3 test/fuzz/soak.py --minutes 10 --seed $$(date +%Y%m%d)
	@$(IN_ENV) python3 test/fuzz/busy_machine.py --loops 4 --seconds 60

lint: setup  ## check style and types
	@$(IN_ENV) ruff check . && python3 -m mypy

# What is ignored of docstrings is what ament_flake8.ini ignores. xmllint reads the schema of
# package.xml from the network, or where XML_CATALOG_FILES says.
AMENT_LINTERS := 'ament_copyright' 'ament_flake8 --config ../ament_flake8.ini' \
    'ament_pep257 --add-ignore D200 D205 D208 D209 D213 D400 D401 D402 D403 D413 D415 D417 --' \
    'ament_xmllint'

lint-ament:  ## run the linters of ament on the packages (needs ament_lint_common)
	@for linter in $(AMENT_LINTERS); do command -v $${linter%% *} > /dev/null || { \
	    echo "make lint-ament: expected $${linter%% *}, found none; install ros-jazzy-ament-lint-common" >&2; \
	    exit 1; }; done
	@failed=0; for package in flex_*; do for linter in $(AMENT_LINTERS); do \
	    found=$$(cd $$package && $$linter . 2>&1) || { failed=1; \
	    printf '%s: %s\n%s\n' "$$package" "$${linter%% *}" "$$found"; }; done; done; \
	    ament_lint_cmake flex_msgs || failed=1; exit $$failed      # the others have no CMake file

bench: setup  ## measure speed and accuracy against other programs, which are installed first
	@$(PYTHON) bare/setup.py peers
	@$(IN_ENV) python3 test/bench/run.py

validate: setup  ## repeat the published experiments and compare, figure by figure
	@$(PYTHON) bare/setup.py peers
	@$(IN_ENV) python3 -m pytest test/validate

docs: setup  ## build the documentation site in build/docs/html; warnings are errors
	@$(PYTHON) bare/setup.py docs
	@$(PYTHON) bare/setup.py study
	@$(IN_ENV) python3 doc/make_reference.py
	@$(IN_ENV) sphinx-build -W --keep-going -q -j 2 -c doc -b html . build/docs/html && \
	    echo 'the site begins at build/docs/html/doc/index.html'

pictures: setup  ## make the pictures of the documentation anew, and run its notebook
	@$(IN_ENV) python3 doc/make_pictures.py
	@$(IN_ENV) python3 doc/notebook.py doc/tutorials/plain_python.ipynb

lock:  ## pin the versions and hashes of the wheels anew (needs uv)
	@bare/lock

clean:  ## remove everything that the other targets made
	rm -rf .venv build install log results
