package columnstore_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
)

// An insert repeated with its token is stored once, whatever its rows. With another token it is stored again,
// even with equal rows. A deduplication window makes a plain table check tokens as a replicated one does.
func TestInsertIsIdempotentByToken(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"0001_t.sql": {Data: []byte(`CREATE TABLE {{.Database}}.{{local "t"}} {{.OnCluster}} (a Int32, at DateTime64(3) DEFAULT now64(3))
ENGINE = {{engine "MergeTree"}} ORDER BY a SETTINGS non_replicated_deduplication_window = 100
COMMENT 'x';
{{distributed "t" "a"}}
`)}}
	node := columnstoretest.New(t)
	name := columnstoretest.Database(t, node)
	if err := node.Conn().Exec(t.Context(), "CREATE TABLE "+name+".t (a Int32) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100"); err != nil {
		t.Fatal(err)
	}
	for database, db := range map[string]*columnstore.DB{name: node, "vayu": columnstoretest.Cluster(t, files, nil)} {
		first, second := columnstore.NewToken(), columnstore.NewToken()
		for i, c := range []struct {
			token string
			a     []int32
			want  uint64
		}{
			{first, []int32{1, 2}, 2},
			{first, []int32{1, 2}, 2},
			{second, []int32{1, 2}, 4},
			{second, []int32{1, 2}, 4},
			{first, []int32{1, 2}, 4},
		} {
			columns := []clickhouse.ColumnNameAndType{{Name: "a", Type: "Int32"}}
			if err := columnstore.Insert(t.Context(), db.Conn(), database+".t", c.token, columns, []any{c.a}); err != nil {
				t.Fatal(err)
			}
			var got uint64
			if err := db.Conn().QueryRow(t.Context(), fmt.Sprintf("SELECT count() FROM %s.t", database)).Scan(&got); err != nil || got != c.want {
				t.Errorf("%s: %d rows (%v) after insert %d, want %d", database, got, err, i+1, c.want)
			}
		}
	}
}
