package batch_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

// Batches are filtered by reference and by time; filters combine.
func TestBatchesAreFiltered(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		var ids, at []string
		for i := range 3 {
			id := s.door.Do(s.a.Keys[schema.Live], "POST", path, fmt.Sprintf(`{"ref_id":"salaries %d","recharges":[{}]}`, i)).Want(t, "a batch", 202).TextAt("batch_id")
			ids = append([]string{id}, ids...)
			var created int64
			if err := s.DB.View(t.Context()).QueryRow("SELECT created_at FROM batch WHERE id = $1", id).Scan(&created); err != nil {
				t.Fatal(err)
			}
			at = append(at, time.UnixMicro(created).UTC().Format(time.RFC3339Nano))
		}
		day := at[0][:len(time.DateOnly)]
		for query, want := range map[string][]string{
			"ref_id=salaries+1":                                {ids[1]},
			"ref_id=salaries+1&state=queued":                   {ids[1]},
			"ref_id=salaries+1&state=completed":                nil,
			"ref_id=salaries":                                  nil,
			"ref_id=%00":                                       nil,
			"from=" + url.QueryEscape(at[1]):                   ids[:2],
			"to=" + url.QueryEscape(at[1]):                     ids[2:],
			"from=2000-01-01&to=2000-01-31":                    nil,
			"from=2000-01-01&to=9999-12-31":                    ids,
			"from=" + day:                                      ids,
			"ref_id=salaries+0&from=" + url.QueryEscape(at[1]): nil,
		} {
			var got []string
			for _, one := range s.get(path+"?"+query).Want(t, query, 200).At("data").([]any) {
				got = append(got, one.(map[string]any)["batch_id"].(string))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
	})
}
