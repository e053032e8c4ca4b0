package verify_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/transaction"
	"vayu/schema"
)

// walk reads all pages of a list.
func (d *apiFixture) walk(query string) (refs []string) {
	d.t.Helper()
	next := path + "?limit=2&" + query
	for {
		page := read[schema.List[schema.Verification]](d.t, d.sandbox("GET", next, ""), 200)
		for _, v := range page.Data {
			refs = append(refs, v.RefID)
		}
		if !page.HasMore {
			return refs
		}
		next = path + "?limit=2&" + query + "&cursor=" + url.QueryEscape(*page.NextCursor)
	}
}

// totals returns the totals of a list.
func (d *apiFixture) totals(query string) *transaction.Totals {
	d.t.Helper()
	type list struct {
		schema.List[schema.Verification]
		Totals *transaction.Totals `json:"totals"`
	}
	return read[list](d.t, d.sandbox("GET", path+"?limit=2&totals=true&"+query, ""), 200).Totals
}

func TestVerificationsAreListed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, d *apiFixture) {
		for _, body := range []string{drop("0001", "a"), drop("0007", "b"), address("success@upi", "c"), drop("0003", "d"), address("failure@upi", "e")} {
			d.sandbox("POST", path, body).Want(t, body, 200)
		}
		d.sandbox("POST", path, drop("0010", "f"), "Prefer", "wait=0").Want(t, "a slow one", 202)
		d.live("POST", path, drop("0001", "g"), "Prefer", "wait=0").Want(t, "a live one", 202)
		batch := d.submit([]string{drop("0001", "h"), drop("0001", "i")})
		for query, want := range map[string]string{
			"": "abcdefhi", "ref_id=c": "c", "ref_id=z": "", "ref_id=g": "", "status=success": "acdhi", "status=failed": "be", "status=pending": "f",
			"batch_id=" + batch: "hi", "batch_id=bat_none": "", "batch_id=" + batch + "&status=success": "hi", "ref_id=c&status=failed": "",
			"method=upi": "ce", "method=penny_drop": "abdfhi", "method=upi&status=failed": "e", "method=penny_drop&batch_id=" + batch: "hi",
			"method=upi&batch_id=" + batch: "", "method=upi&ref_id=c": "c", "method=penny_drop&ref_id=c": "",
			"from=2020-01-01": "abcdefhi", "to=2020-01-01": "", "from=2020-01-01&to=2099-12-31&status=failed": "be",
		} {
			got := d.walk(query)
			if query != "" || !strings.HasPrefix(want, "abcdef") {
				slices.Sort(got) // those of a batch are begun together
			} else if !slices.Equal(got[2:], []string{"f", "e", "d", "c", "b", "a"}) {
				t.Errorf("the newest are not first: %q", got)
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, strings.Join(got, "")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
			if totals := d.totals(query); totals.Count != int64(len(want)) || !totals.Complete || totals.Amount != nil {
				t.Errorf("%s: got totals %+v, want %d rows without amounts", query, *totals, len(want))
			}
		}
		states := []transaction.StateTotal{
			{Status: "pending", Total: transaction.Total{Count: 1}}, {Status: "success", Total: transaction.Total{Count: 5}}, {Status: "failed", Total: transaction.Total{Count: 2}},
		}
		if diff := cmp.Diff(states, d.totals("").States); diff != "" {
			t.Errorf("totals (-want +got):\n%s", diff)
		}
		for query, field := range map[string]string{
			"method=": "method", "method=upi%27": "method", "totals=1": "totals",
			"status=refunded": "status", "from=yesterday": "from", "limit=0": "limit", "cursor=x": "cursor", "name=Rahul": "name", "ref_id=a&ref_id=b": "ref_id",
		} {
			d.sandbox("GET", path+"?"+query, "").WantError(t, query, 400, schema.InvalidRequest, field)
		}
	})
}
