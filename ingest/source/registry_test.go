package source_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest/source"
	"vayu/schema"
)

// catalogue opens the catalogue with the descriptions of a folder.
func catalogue(t *testing.T, folder string) *source.Catalogue {
	t.Helper()
	c, err := source.Open(source.DefaultConfig(), folder, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParse(t *testing.T) {
	t.Parallel()
	all := catalogue(t, "testdata/none")
	known := "(known: " + strings.Join(all.NamesOf(schema.Live), ", ") + ", or none)"
	for _, c := range []struct {
		list  string
		want  []string
		fault string
	}{
		{"cpcb", []string{"cpcb"}, ""},
		{" datagov, cpcb,cpcb", []string{"datagov", "cpcb"}, ""},
		{"none", nil, ""},
		{"cpcb, none", nil, `"none" stands alone ` + known},
		{"", nil, "no source is named"},
		{"cpcp", nil, `there is no source "cpcp" ` + known},
		{"simulator", nil, "sandbox world only"},
		{"cpcb,x,simulator", nil, `"x"`},
	} {
		t.Run(strconv.Quote(c.list), func(t *testing.T) {
			got, err := all.Parse(c.list)
			if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("Parse(%q) = %v, want an error with %q", c.list, err, c.fault)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", c.list, diff)
			}
		})
	}
}

func TestWorldsStayApart(t *testing.T) {
	t.Parallel()
	c := catalogue(t, "testdata/none")
	if _, err := c.Feed(schema.Live, "simulator", time.Now); err == nil {
		t.Error("the simulator was accepted as a source of live air")
	}
	if _, err := c.Feed(schema.Sandbox, "cpcb", time.Now); err == nil {
		t.Error("measured air was accepted for the sandbox")
	}
	if slices.Contains(c.NamesOf(schema.Live), "simulator") {
		t.Error("the simulator is offered as a live source")
	}
}

func TestDefaultsBuild(t *testing.T) {
	t.Parallel()
	c := catalogue(t, "testdata/none")
	live, err := c.Feed(schema.Live, "cpcb", time.Now)
	if err != nil || live.Name != "cpcb" || live.Source == nil {
		t.Errorf("Feed = %v, %v", live, err)
	}
	sandbox, err := c.Feed(schema.Sandbox, "simulator", time.Now)
	if err != nil || sandbox.History != 60*24*time.Hour {
		t.Errorf("Feed = %v, %v", sandbox, err)
	}
	if diff := cmp.Diff([]string{"simulator"}, c.NamesOf(schema.Sandbox)); diff != "" {
		t.Errorf("sources of the sandbox (-want +got):\n%s", diff)
	}
	for name, entry := range source.Registry {
		if entry.About == "" {
			t.Errorf("source %q has no description", name)
		}
		if entry.Factory(source.DefaultConfig()) == nil {
			t.Errorf("source %q has no factory", name)
		}
	}
	if _, err := c.New("nowhere", time.Now); err == nil || !strings.Contains(err.Error(), "simulator") {
		t.Errorf("New of an unknown source = %v, want the known ones", err)
	}
}
