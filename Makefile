# Every target sets up what it needs. It asks for make and a Python of 3.11 or newer, nothing else:
# `make PYTHON=python3.12 test` picks another one than python3. `make build` also wants the Lambda runtime's own python3.13.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
PYTHON ?= python3
export SAM_CLI_TELEMETRY := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1

BIN := .venv/bin
SAM := .venv-sam/bin/sam
UV := .venv-pin/bin/uv
DEV_STAMP := .venv/.installed
DEV_PINS := .venv/.pinned
SAM_STAMP := .venv-sam/.installed
PIN_STAMP := .venv-pin/.installed
AWS_STAMP := .venv-aws/.installed
SAGEMAKER_STAMP := .venv-sagemaker/.installed
# The folder of the functions' own Python: sam build takes no other. pyenv has versions that are on PATH only when they are selected.
RUNTIME = $(shell for at in $$(command -v python3.13) "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.13.*/bin/python3.13; do \
	"$$at" --version > /dev/null 2>&1 && dirname "$$at" && break; done)
NO_RUNTIME = there is no python3.13 here, the runtime of the functions

.PHONY: help
help: ## what can be made
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

# ------------------------------------------------------------------------------------------------- environments

# $(call environment,FOLDER,REQUIREMENTS): a new virtual environment that holds the hashed pins and nothing else. The pins are
# complete, so pip resolves nothing; pip check says if they were not.
define environment
$(call pinned,$(1),$(2))
	@$(1)/bin/python -m pip check --quiet
endef

define pinned
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11: give another one, as in make PYTHON=python3.12" >&2; exit 1; }
	@echo "Setting up $(1) from $(2)"
	@rm -rf $(1)
	@$(PYTHON) -m venv $(1)
	@$(1)/bin/python -m pip install -qq --no-deps --require-hashes --requirement $(2)
endef

$(DEV_PINS): requirements/dev.txt
	$(call environment,.venv,requirements/dev.txt)
	@touch $@

$(DEV_STAMP): $(DEV_PINS) pyproject.toml
	@$(BIN)/python -m pip install -qq --no-index --no-deps --no-build-isolation --editable .
	@touch $@

$(SAM_STAMP): requirements/sam.txt
	$(call environment,.venv-sam,requirements/sam.txt)
	@touch $@

$(AWS_STAMP): requirements/aws.txt
	$(call environment,.venv-aws,requirements/aws.txt)
	@touch $@

# Not complete: the SDK's mlflow is left out.
$(SAGEMAKER_STAMP): requirements/sagemaker.txt
	$(call pinned,.venv-sagemaker,requirements/sagemaker.txt)
	@touch $@

$(PIN_STAMP): requirements/pin.txt
	$(call environment,.venv-pin,requirements/pin.txt)
	@touch $@

.PHONY: setup
setup: $(DEV_STAMP) ## the environment .venv, with the command at .venv/bin/pointsman

# --------------------------------------------------------------------------------------------------- daily work

.PHONY: calibrate
calibrate: $(DEV_STAMP) ## how often the expected starts that `queue explain` tells come true, on 20 generated days
	@$(BIN)/pointsman calibrate

.PHONY: demo
demo: $(DEV_STAMP) ## a day of a busy GPU queue on the emulator, under FIFO and under Pointsman
	@$(BIN)/pointsman demo

.PHONY: test
test: $(DEV_STAMP) ## every test
	@$(BIN)/python -m pytest --quiet --numprocesses auto --dist loadfile

.PHONY: test-aws
test-aws: $(DEV_STAMP) $(AWS_STAMP) ## the tests that drive the emulator by the `aws` command; without it `make test` leaves them out
	@$(BIN)/python -m pytest --quiet tests/aws

.PHONY: test-local
test-local: $(DEV_STAMP) $(AWS_STAMP) $(SAGEMAKER_STAMP) ## `pointsman local` driven by the `aws` command and by SageMaker's Python SDK
	@$(BIN)/python -m pytest --quiet -m "" tests/local

.PHONY: walk
walk: $(DEV_STAMP) ## rollouts killed at every boundary, and under every answer of SageMaker: takes many minutes
	@$(BIN)/python -m pytest --quiet --numprocesses auto -m walk

.PHONY: prove
prove: $(DEV_STAMP) ## random worlds for both loops, checked by the truth: SEEDS=1000 START=1 LOOP=rollouts|queues, or SEED=N again
	@$(BIN)/python -m tests.proof $(if $(SEED),--seed $(SEED)) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(START),--start $(START)) \
		$(if $(LOOP),--loop $(LOOP)) $(if $(PROFILE),--profile "$(PROFILE)") $(if $(ABLATE),--ablate)

.PHONY: ablate
ablate: ## each guard taken away in turn: the worlds that it takes until a violation is found
	@$(MAKE) --no-print-directory prove ABLATE=1

.PHONY: load
load: $(DEV_STAMP) ## a million job events through the recorder, one in a hundred of them poison
	@$(BIN)/python -m tests.proof.queues.load $(if $(EVENTS),--events $(EVENTS))

.PHONY: golden
golden: $(DEV_STAMP) $(AWS_STAMP) ## AWS's sample of quota management, played to the emulator by the `aws` command
	@$(BIN)/python -m tests.aws.golden

.PHONY: bench
bench: $(DEV_STAMP) ## what long queues cost, and a month in the simulator; TRACE=FILE.csv plays that too
	@$(BIN)/python -m bench $(if $(TRACE),--trace $(TRACE))

.PHONY: permissions
permissions: $(DEV_STAMP) ## the table of docs/permissions.md, from the calls that are made in emulated hours
	@$(BIN)/python -m tests.template.permission_table

.PHONY: check
check: format lint types imports template built ## format, lint, types, import rules, template; that it can be built

.PHONY: format lint types imports template built
format: $(DEV_STAMP)
	@$(BIN)/ruff format --check .
lint: $(DEV_STAMP)
	@$(BIN)/ruff check .
types: $(DEV_STAMP)
	@$(BIN)/mypy
imports: $(DEV_STAMP)
	@$(BIN)/lint-imports --no-logo
template: $(SAM_STAMP)
	@$(SAM) validate --lint --template template.yaml
	@$(SAM) validate --config-env prod --template template.yaml > /dev/null && echo "each environment of samconfig.toml is read"
	@.venv-sam/bin/cfn-lint --template examples/batch.yaml examples/inference.yaml examples/key.yaml examples/people.yaml && echo "the examples are valid"
	@{ .venv-sam/bin/cfn-lint --template tests/template/careless.yaml || true; } | grep -q '^WS1000' && echo "the rules for serverless applications are in force"

built:
	@if [ -n "$(RUNTIME)" ]; then $(MAKE) --no-print-directory build; \
	else echo "$(NO_RUNTIME): what is deployed is not built" >&2; [ "$${CI:-}" != true ]; fi

# -------------------------------------------------------------------------------------------------- the template

.PHONY: build
build: $(SAM_STAMP) ## what `sam deploy` uploads, in .aws-sam
	@[ -n "$(RUNTIME)" ] || { echo "$(NO_RUNTIME)" >&2; exit 1; }
	@PATH="$(RUNTIME):$$PATH" $(SAM) build

.PHONY: sam-local
sam-local: $(DEV_STAMP) $(SAM_STAMP) ## each sample event in a real container, beside the same in process; wants a Docker engine
	@[ -n "$(RUNTIME)" ] || { echo "$(NO_RUNTIME): no function is run in a container" >&2; [ "$${CI:-}" != true ]; exit; }; \
	PATH="$(RUNTIME):$$PATH" tests/sam_local/engine.sh $(BIN)/python -m tests.sam_local

# --------------------------------------------------------------------------------------------------------- pins

# A pin names a version and its hashes, for every system and processor, and no place to get it from.
COMPILE = $(UV) pip compile --quiet --universal --upgrade --generate-hashes --no-emit-index-url --no-emit-find-links \
	--no-annotate --custom-compile-command "make pin"

.PHONY: pin
pin: $(PIN_STAMP) ## the newest pins that pyproject.toml allows
	@$(COMPILE) --python-version 3.11 --extra command --extra emulator --extra report --group dev --output-file requirements/dev.txt pyproject.toml
	@$(COMPILE) --python-version 3.13 --constraint requirements/dev.txt --output-file layers/dependencies/requirements.txt pyproject.toml
	@$(COMPILE) --python-version 3.11 --group sam --output-file requirements/sam.txt
	@$(COMPILE) --python-version 3.11 --group aws --output-file requirements/aws.txt
	@$(COMPILE) --python-version 3.13 --group lambda --output-file requirements/lambda.txt
	@printf '%s\n' "mlflow; python_version < '3'" "sagemaker-mlflow; python_version < '3'" \
		| $(COMPILE) --python-version 3.11 --group sagemaker --override /dev/stdin --output-file requirements/sagemaker.txt
	@$(COMPILE) --python-version 3.11 --group pin --output-file requirements/pin.txt
	@! grep -nE 'http|index|find-links' requirements/*.txt layers/dependencies/requirements.txt
