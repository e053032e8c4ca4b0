package httpapitest

import (
	"fmt"
	"slices"
	"testing"

	"vayu/internal/httpapi"
)

// Complete fails the test if the routes and the API's description (schema/openapi.yaml) differ. It finds
// undescribed routes, descriptions without a route, and routes whose scope is not the described x-scope. The
// paths in open need no key.
func Complete(tb testing.TB, routes []httpapi.Route, open []string) {
	tb.Helper()
	for _, fault := range incomplete(tb, routes, open) {
		tb.Error(fault)
	}
}

func incomplete(tb testing.TB, routes []httpapi.Route, open []string) []string {
	tb.Helper()
	d, err := contract()
	if err != nil {
		tb.Fatal(err)
	}
	const keyless = "\x00" // no scope has this name
	have, want := map[string]string{}, map[string]string{}
	for _, r := range routes {
		have[r.Method+" "+r.Path] = r.Scope
		if r.NoAuth {
			have[r.Method+" "+r.Path] = keyless
		}
	}
	for _, p := range open {
		have["GET "+p] = keyless
	}
	for _, p := range d.paths {
		for method, o := range p.methods {
			want[method+" "+p.template] = keyless
			if o.scope != nil {
				want[method+" "+p.template] = *o.scope
			}
		}
	}
	var found []string
	for name, scope := range have {
		switch described, ok := want[name]; {
		case !ok:
			found = append(found, fmt.Sprintf("%s is not described in schema/openapi.yaml", name))
		case described == keyless && scope != keyless:
			found = append(found, fmt.Sprintf("%s needs a key; its x-scope is missing (%q)", name, scope))
		case described != keyless && scope == keyless:
			found = append(found, fmt.Sprintf("%s needs no key, and has the x-scope %q", name, described))
		case described != scope:
			found = append(found, fmt.Sprintf("%s needs the scope %q, and its x-scope is %q", name, scope, described))
		}
	}
	for name := range want {
		if _, ok := have[name]; !ok {
			found = append(found, fmt.Sprintf("%s is described, and there is no such route", name))
		}
	}
	slices.Sort(found)
	return found
}
