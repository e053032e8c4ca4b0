package embedded_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore/embedded"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]embedded.Statement{
		"":                    nil,
		" ; -- nothing\n ;;":  nil,
		"SELECT 1":            {{Text: "SELECT 1", Verb: "SELECT"}},
		"select 1; -- one\n ": {{Text: "select 1", Verb: "SELECT", Ended: true}},
		"SELECT ';', `a;b` /* ; */ FORMAT TSV; USE vayu": {
			{Text: "SELECT ';', `a;b` /* ; */ FORMAT TSV", Verb: "SELECT", Format: "TSV", Ended: true}, {Text: "USE vayu", Verb: "USE"},
		},
		"SELECT 'it''s; \\'' ; SELECT $a$ ; $a$": {{Text: `SELECT 'it''s; \'' `, Verb: "SELECT", Ended: true}, {Text: "SELECT $a$ ; $a$", Verb: "SELECT"}},
		"INSERT INTO t VALUES (1, ';'); SELECT 2": {
			{Text: "INSERT INTO t VALUES (1, ';')", Verb: "INSERT", Format: "Values", Ended: true}, {Text: "SELECT 2", Verb: "SELECT"},
		},
		"SELECT 1; INSERT INTO t FORMAT CSV\n1;2\n3;4\n": {
			{Text: "SELECT 1", Verb: "SELECT", Ended: true}, {Text: "INSERT INTO t FORMAT CSV\n1;2\n3;4\n", Verb: "INSERT", Format: "CSV", Ended: true},
		},
		"INSERT INTO t FORMAT CSV": {{Text: "INSERT INTO t FORMAT CSV", Verb: "INSERT", Format: "CSV", Ended: true, Body: true}},
		"INSERT INTO t SELECT 1 FORMAT CSV; SELECT 2": {
			{Text: "INSERT INTO t SELECT 1 FORMAT CSV", Verb: "INSERT", Format: "CSV", Ended: true}, {Text: "SELECT 2", Verb: "SELECT"},
		},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, embedded.Split(text)); diff != "" {
				t.Errorf("statements (-want +got):\n%s", diff)
			}
		})
	}
}
