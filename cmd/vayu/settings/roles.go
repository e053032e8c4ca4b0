package settings

import (
	"slices"
	"strings"

	"vayu/internal/config"
)

// Roles of instances. By default, an instance has all four. A larger installation can have instances for each role.
const (
	// RoleAPI serves API requests. For a recharge or a verification this includes the first call of a provider.
	RoleAPI = "api"
	// RoleIngest collects readings and computes indices. Instances with this role share the sources, and their leader
	// computes the indices.
	RoleIngest = "ingest"
	// RolePipeline polls providers about pending transactions, runs batches and checks the ledger.
	RolePipeline = "pipeline"
	// RoleDispatch delivers events to subscribers.
	RoleDispatch = "dispatch"
)

// roles are all roles of a process, in the order of display.
var roles = []string{RoleAPI, RoleIngest, RolePipeline, RoleDispatch}

// Has reports whether this instance has any of the given roles.
func (c Config) Has(some ...string) bool {
	return slices.ContainsFunc(some, func(role string) bool { return slices.Contains(c.Roles, role) })
}

// UsesClickHouse reports whether the roles of this instance use ClickHouse.
func (c Config) UsesClickHouse() bool { return c.Has(RoleAPI, RoleIngest, RoleDispatch) }

// checkRoles validates the roles. If this instance lacks a role, another instance must have it. The settings must then
// name stores that the instances share. An instance with the role pipeline and without api also needs public-url.
func (c Config) checkRoles(f *config.Faults) {
	faults := len(*f)
	for _, role := range c.Roles {
		f.Check(slices.Contains(roles, role), "roles", "%q is none of %s", role, strings.Join(roles, ", "))
	}
	f.Check(len(c.Roles) > 0, "roles", "there is nothing to do: name some of %s", strings.Join(roles, ", "))
	if len(*f) > faults || !slices.ContainsFunc(roles, func(role string) bool { return !c.Has(role) }) {
		return
	}
	f.Check(c.State != "", "roles", "the other roles need a state store that instances share: set state")
	f.Check(!c.UsesClickHouse() || c.ClickHouse != "", "roles", "the other roles need a ClickHouse that instances share: set clickhouse")
	f.Check(!c.Has(RolePipeline) || c.Has(RoleAPI) || c.PublicURL != "", "public-url",
		"an instance that works on batches and does not serve the API needs the URL of the API")
}
