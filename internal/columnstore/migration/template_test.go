package migration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTemplateForNodeAndCluster(t *testing.T) {
	t.Parallel()
	text := `CREATE TABLE {{.Database}}.{{local "reading"}} {{.OnCluster}} (a Int32) ENGINE = {{engine "ReplacingMergeTree" "at"}} ORDER BY a;
{{distributed "reading" "a"}}
CREATE TABLE {{.Database}}.log {{.OnCluster}} (a Int32) ENGINE = {{engine "MergeTree"}} ORDER BY a;
CREATE TABLE {{.Database}}.m {{.OnCluster}} (a Int32) ENGINE = {{engine "Memory"}};`
	for cluster, want := range map[string][]string{
		"": {
			"CREATE TABLE vayu.reading (a Int32) ENGINE = ReplacingMergeTree(at) ORDER BY a",
			"CREATE TABLE vayu.log (a Int32) ENGINE = MergeTree ORDER BY a",
			"CREATE TABLE vayu.m (a Int32) ENGINE = Memory()",
		},
		"air": {
			"CREATE TABLE vayu.reading_local ON CLUSTER `air` (a Int32) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', at) ORDER BY a",
			"CREATE TABLE IF NOT EXISTS vayu.reading ON CLUSTER `air` AS vayu.reading_local ENGINE = Distributed(`air`, 'vayu', 'reading_local', a)",
			"CREATE TABLE vayu.log ON CLUSTER `air` (a Int32) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}') ORDER BY a",
			"CREATE TABLE vayu.m ON CLUSTER `air` (a Int32) ENGINE = Memory()",
		},
	} {
		rendered, err := Params{Database: "vayu", Cluster: cluster}.render("x", text)
		if err != nil {
			t.Fatal(err)
		}
		got := splitStatements(rendered)
		for i := range got {
			got[i] = strings.Join(strings.Fields(got[i]), " ")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cluster %q:\n%s", cluster, diff)
		}
	}
}

func FuzzSplitStatements(f *testing.F) {
	f.Add("SELECT 1;\n-- x;\nSELECT ';';\n")
	f.Add("a\nb;\r\n\r\n;")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range splitStatements(text) {
			if strings.TrimSpace(s) == "" {
				t.Errorf("an empty statement in %q", text)
			}
		}
	})
}
