package arch_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"vayu/internal/arch"
)

// TestSize prints the sizes of the project (make size) and holds them to their limits.
func TestSize(t *testing.T) {
	t.Parallel()
	sizes, faults, err := arch.Sizes(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sizes {
		t.Logf("%-75s %6d  limit %6d  target %6d", s.Name, s.Is, s.Limit, s.Target)
	}
	for _, f := range faults {
		t.Error(f)
	}
}

func TestSizesOfASmallTree(t *testing.T) {
	t.Parallel()
	lines := func(n int) *fstest.MapFile { return &fstest.MapFile{Data: []byte(strings.Repeat("\n", n))} }
	sizes, faults, err := arch.Sizes(fstest.MapFS{
		"cmd/other/main.go":                 lines(1_000),
		"cmd/other/main_test.go":            lines(9_000),
		"ingest/a/loader.go":                lines(400),
		"pipeline/big.go":                   lines(1_801),
		"internal/leader/leader.go":         lines(300),
		"internal/testing/chaos/chaos.go":   lines(200),
		"internal/sqlstore/sqltest/each.go": lines(100),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1_000 + 1_801 + 600, 200 + 100, 600 * 100 / 3_801} {
		if sizes[i].Is != want {
			t.Errorf("%s = %d, want %d", sizes[i].Name, sizes[i].Is, want)
		}
	}
	if len(faults) != 2 || faults[0].Path != "pipeline" || faults[1].Path != "." {
		t.Errorf("faults = %v, want one for pipeline and one for the number of large packages", faults)
	}
}
