package main

import (
	"slices"
	"strings"

	"vayu/internal/config"
)

// What an instance can take on. All four are one machine's; on many, each has as
// many instances as it needs.
const (
	// roleAPI answers requests, and makes the calls of operators and banks that they begin.
	roleAPI = "api"
	// roleIngest collects readings and rolls them up: one instance does, the others wait to.
	roleIngest = "ingest"
	// rolePipeline carries on what was begun: enquiries about what is pending, and batches.
	rolePipeline = "pipeline"
	// roleDispatch brings events to subscribers.
	roleDispatch = "dispatch"
)

// roles are all of them, in the order in which they are shown.
var roles = []string{roleAPI, roleIngest, rolePipeline, roleDispatch}

// has reports whether this instance takes one of some roles on.
func (c Config) has(some ...string) bool {
	return slices.ContainsFunc(some, func(role string) bool { return slices.Contains(c.Roles, role) })
}

// usesClickHouse reports whether this instance reads or writes there.
func (c Config) usesClickHouse() bool { return c.has(roleAPI, roleIngest, roleDispatch) }

// checkRoles reports every fault of the roles, and of what is needed because others
// take on the rest.
func (c Config) checkRoles() (wrong []error) {
	for _, role := range c.Roles {
		if !slices.Contains(roles, role) {
			wrong = append(wrong, config.Invalid("roles", "%q is none of %s", role, strings.Join(roles, ", ")))
		}
	}
	if len(c.Roles) == 0 {
		wrong = append(wrong, config.Invalid("roles", "there is nothing to do: name some of %s", strings.Join(roles, ", ")))
	}
	if len(wrong) > 0 || !slices.ContainsFunc(roles, func(role string) bool { return !c.has(role) }) {
		return wrong
	}
	if c.State == "" {
		wrong = append(wrong, config.Invalid("roles", "the other roles need a state store that instances share: set state"))
	}
	if c.usesClickHouse() && c.ClickHouse == "" {
		wrong = append(wrong, config.Invalid("roles", "the other roles need a ClickHouse that instances share: set clickhouse"))
	}
	if c.has(rolePipeline) && !c.has(roleAPI) && c.PublicURL == "" {
		wrong = append(wrong, config.Invalid("public-url", "an instance that works on batches and does not serve the API must be told where that is"))
	}
	return wrong
}
