package fault_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/testing/chaos/fault"
)

func names(all []fault.Fault) (out []string) {
	for _, f := range all {
		out = append(out, f.Name)
	}
	return out
}

func TestChosen(t *testing.T) {
	t.Parallel()
	all := fault.Faults()
	for _, c := range []struct{ prefixes, want []string }{
		{nil, names(all)},
		{[]string{"kill-api"}, []string{"kill-api-1", "kill-api-2"}},
		{[]string{"roll-stores", "kill-broker-2"}, []string{"kill-broker-2", "roll-stores"}}, // in their own order
	} {
		got, err := fault.Select(all, c.prefixes)
		if diff := cmp.Diff(c.want, names(got)); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", c.prefixes, err, diff)
		}
	}
	if got, err := fault.Select(all, []string{"kill-api", "earthquake"}); err == nil {
		t.Errorf("an unknown fault is taken for %q", names(got))
	}
}

func TestNamesAreDifferent(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, name := range names(append(fault.Faults(), fault.Partitions()...)) {
		if known[name] {
			t.Errorf("two faults are called %s", name)
		}
		known[name] = true
	}
}
