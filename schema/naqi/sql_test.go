package naqi_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// The rule exists in Go and as SQL. This test compares both on every hundredth of
// every band and beyond the end of the scale.
func TestGoAndSQLAgree(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	for _, f := range naqi.Functions() {
		if err := db.Conn().Exec(t.Context(), fmt.Sprintf("CREATE OR REPLACE FUNCTION %s AS %s", f.Name, f.Lambda)); err != nil {
			t.Fatalf("creating %s: %v", f.Name, err)
		}
	}
	for _, p := range air.Pollutants {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			last, _ := naqi.Inverse(p, naqi.MaxIndex)
			points := int(last*110) + 1
			var got []uint16
			query := fmt.Sprintf("SELECT groupArray(assumeNotNull(naqi_%s(number / 100))) FROM (SELECT number FROM numbers(%d) ORDER BY number)", p, points)
			if err := db.Conn().QueryRow(t.Context(), query).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if len(got) != points {
				t.Fatalf("%d figures of SQL, want %d", len(got), points)
			}
			for i, sql := range got {
				if want, _ := naqi.SubIndex(p, float64(i)/100); int(sql) != want {
					t.Fatalf("%s %v: SQL has %d, Go %d", p.Label(), float64(i)/100, sql, want)
				}
			}
			var lead []float64
			query = fmt.Sprintf("SELECT groupArray(assumeNotNull(naqi_%s_lead(number / 100))) FROM (SELECT number FROM numbers(%d) ORDER BY number)", p, points)
			if err := db.Conn().QueryRow(t.Context(), query).Scan(&lead); err != nil {
				t.Fatal(err)
			}
			for i, sql := range lead {
				if want := naqi.Lead(p, float64(i)/100); math.Abs(sql-want) > 1e-9 {
					t.Fatalf("lead of %s %v: SQL has %v, Go %v", p.Label(), float64(i)/100, sql, want)
				}
				if index, _ := naqi.SubIndex(p, float64(i)/100); math.Abs(min(sql, naqi.MaxIndex)-float64(index)) > 0.5+1e-6 {
					t.Fatalf("lead of %s %v is %v, its sub-index %d", p.Label(), float64(i)/100, sql, index)
				}
			}
			var inverse []float64
			query = fmt.Sprintf("SELECT groupArray(assumeNotNull(naqi_%s_inverse(number))) FROM (SELECT number FROM numbers(501) ORDER BY number)", p)
			if err := db.Conn().QueryRow(t.Context(), query).Scan(&inverse); err != nil {
				t.Fatal(err)
			}
			want := make([]float64, naqi.MaxIndex+1)
			for i := range want {
				want[i], _ = naqi.Inverse(p, i)
			}
			if diff := cmp.Diff(want, inverse); diff != "" {
				t.Errorf("inverse (-Go +SQL):\n%s", diff)
			}
		})
	}
	t.Run("categories", func(t *testing.T) {
		t.Parallel()
		var got []string
		if err := db.Conn().QueryRow(t.Context(), "SELECT groupArray(naqi_category(number)) FROM (SELECT number FROM numbers(501) ORDER BY number)").Scan(&got); err != nil {
			t.Fatal(err)
		}
		for i, name := range got {
			if want := naqi.Category(i); name != want {
				t.Errorf("category of %d: SQL has %q, Go %q", i, name, want)
			}
		}
	})
	t.Run("what is no concentration", func(t *testing.T) {
		t.Parallel()
		var nulls uint64
		query := "SELECT countIf(isNull(naqi_pm25(x))) FROM (SELECT arrayJoin([NULL, -1, nan, -inf]) AS x)"
		if err := db.Conn().QueryRow(t.Context(), query).Scan(&nulls); err != nil {
			t.Fatal(err)
		}
		if nulls != 4 {
			t.Errorf("%d of 4 values that are no concentration have no sub-index", nulls)
		}
	})
}
