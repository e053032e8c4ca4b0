package recharge_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// insertRecharge stores a recharge and returns its id.
func (d *apiFixture) insertRecharge(n int, o schema.Owner, state schema.RechargeState, at time.Time, batch string) string {
	d.t.Helper()
	id := fmt.Sprintf("txn_%s%016d", ulidTime(at), n)
	var finished, refunded any
	code := ""
	if state != schema.RechargePending {
		finished = at.UnixMicro()
	}
	if state == schema.RechargeRefunded {
		refunded = at.UnixMicro()
	}
	if state == schema.RechargeFailed {
		code = string(schema.OperatorNetworkError)
	}
	sqlstoretest.Exec(d.t, d.DB, `INSERT INTO recharge (id, account_id, mode, ref_id, state, type, number, asked, operator, circle, detection, amount, provider, reference, provider_ref,
			sent, tries, told_pending, error_code, error_message, alarm, refund_id, refund_reason, batch_id, batch_index, created_at, finished_at, refunded_at, token)
		VALUES ($1, $2, $3, $4, $5, 'prepaid', '9876543210', '', 'Airtel', '', 'series', 1000, 'pending', $1, '', 1, 0, 0, $6, $6, '', $7, $7, $8, 0, $9, $10, $11, '')`,
		id, o.Account, o.World.String(), fmt.Sprint("ref ", n), string(state), code, refundOf(state, n), batch, at.UnixMicro(), finished, refunded)
	return id
}

func refundOf(state schema.RechargeState, n int) string {
	if state != schema.RechargeRefunded {
		return ""
	}
	return fmt.Sprintf("rfd_01KAHR3M5Q%016d", n)
}

// ulidTime returns the first ten characters of ULIDs of a time.
func ulidTime(at time.Time) string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	ms := at.UnixMilli()
	text := make([]byte, 10)
	for i := len(text) - 1; i >= 0; i-- {
		text[i], ms = digits[ms%32], ms/32
	}
	return string(text)
}

// listAll reads all pages of a list.
func (d *apiFixture) listAll(key, path string) (ids []string) {
	d.t.Helper()
	between := "?"
	if strings.Contains(path, "?") {
		between = "&"
	}
	for next := ""; ; {
		list := read[schema.List[schema.Recharge]](d.t, d.Client.Do(key, "GET", path+next, ""), 200)
		for _, r := range list.Data {
			ids = append(ids, r.TransactionID)
		}
		if list.HasMore != (list.NextCursor != nil) {
			d.t.Errorf("%s: there is more: %v, with the cursor %v", path, list.HasMore, list.NextCursor)
		}
		if list.NextCursor == nil {
			return ids
		}
		next = between + "cursor=" + url.QueryEscape(*list.NextCursor)
	}
}

// recomputedTotals adds up the rows of all pages of a list.
func (d *apiFixture) recomputedTotals(path string) transaction.Totals {
	d.t.Helper()
	between := "?"
	if strings.Contains(path, "?") {
		between = "&"
	}
	want := transaction.Totals{Complete: true, Total: transaction.Total{Amount: new(schema.Paise)}, States: []transaction.StateTotal{}}
	next, found := between+"limit=1000", map[string]transaction.Total{}
	for {
		list := read[schema.List[schema.Recharge]](d.t, d.sandboxRequest("GET", path+next, ""), 200)
		for _, r := range list.Data {
			s := found[string(r.Status)]
			if s.Amount == nil {
				s.Amount = new(schema.Paise)
			}
			s.Count++
			*s.Amount += r.Amount
			found[string(r.Status)] = s
			want.Count++
			*want.Amount += r.Amount
		}
		if list.NextCursor == nil {
			break
		}
		next = between + "limit=1000&cursor=" + url.QueryEscape(*list.NextCursor)
	}
	for _, state := range transaction.Names(schema.RechargeStates) {
		if s, there := found[state]; there {
			want.States = append(want.States, transaction.StateTotal{Status: state, Total: s})
		}
	}
	return want
}

// totals returns the totals of the first page of a list; nil if the reply has none.
func (d *apiFixture) totals(path string) *transaction.Totals {
	d.t.Helper()
	type list struct {
		schema.List[schema.Recharge]
		Totals *transaction.Totals `json:"totals"`
	}
	return read[list](d.t, d.sandboxRequest("GET", path, ""), 200).Totals
}

func TestRechargesAreListed(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	const batchID, otherBatch = "rbt_01KAJ0C4E6G8J0M2P4R6T8V0X2", "rbt_01KAJ0C4E6G8J0M2P4R6T8V0X3"
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		mine, other := d.tenant.In(schema.Sandbox), accesstest.AddTenant(t, d.DB, "other").In(schema.Sandbox)
		for id, o := range map[string]schema.Owner{batchID: mine, otherBatch: other} {
			sqlstoretest.Exec(t, d.DB, `INSERT INTO batch (id, account_id, mode, kind, ref_id, fingerprint, state, total, successful, failed, key_id, request_id, client, created_at)
				VALUES ($1, $2, 'sandbox', 'recharge', NULL, $3, 'processing', 3, 0, 0, '', '', '', 0)`, id, o.Account, []byte("x"))
		}
		var all []string
		of := map[string][]string{}
		for i := range 16 {
			state := schema.RechargeStates[i%4]
			batch := ""
			if i%3 == 0 {
				batch = batchID
			}
			id := d.insertRecharge(i, mine, state, start.Add(time.Duration(i)*time.Hour), batch)
			all = append(all, id)
			of[string(state)] = append(of[string(state)], id)
			if batch != "" {
				of["batch"] = append(of["batch"], id)
				sqlstoretest.Exec(t, d.DB, "INSERT INTO batch_item (batch_id, place, subject, outcome) VALUES ($1, $2, $3, 'begun')", batch, i, id)
				if state == schema.RechargeFailed {
					of["batch failed"] = append(of["batch failed"], id)
				}
			}
		}
		// The first one, which was pending, is of a DTH box.
		sqlstoretest.Exec(t, d.DB, "UPDATE recharge SET type = 'dth', number = '1023456789', amount = 35050 WHERE id = $1", all[0])
		sqlstoretest.Exec(t, d.DB, "INSERT INTO batch_item (batch_id, place, subject, outcome) VALUES ($1, 99, '', 'failed')", batchID)
		foreign := d.insertRecharge(100, other, schema.RechargePending, start, otherBatch)
		sqlstoretest.Exec(t, d.DB, "INSERT INTO batch_item (batch_id, place, subject, outcome) VALUES ($1, 0, $2, 'begun')", otherBatch, foreign)
		d.insertRecharge(101, d.tenant.In(schema.Live), schema.RechargePending, start, "")
		for _, list := range of {
			slices.Reverse(list)
		}
		slices.Reverse(all)
		at := func(hours int) string { return start.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339Nano) }
		for path, want := range map[string][]string{
			"":                             all,
			"?limit=5":                     all,
			"?limit=16":                    all,
			"?status=pending&limit=2":      of["pending"],
			"?status=success&limit=1":      of["success"],
			"?status=failed":               of["failed"],
			"?status=refunded":             of["refunded"],
			"?ref_id=ref+3":                all[12:13],
			"?ref_id=ref+3&status=pending": nil,
			"?ref_id=ref+100":              nil,
			"?ref_id=nobody%27s":           nil,
			"?ref_id=%00":                  nil,
			"?ref_id=%FF":                  nil,
			"?batch_id=" + batchID:         of["batch"],
			"?limit=2&batch_id=" + batchID: of["batch"],
			"?limit=1&status=failed&batch_id=" + batchID:                of["batch failed"],
			"?ref_id=ref+3&batch_id=" + batchID:                         all[12:13],
			"?ref_id=ref+4&batch_id=" + batchID:                         nil,
			"?batch_id=" + batchID + "&from=" + at(6) + "&to=" + at(10): {all[6], all[9]},
			"?batch_id=" + otherBatch:                                   nil,
			"?batch_id=rbt_%00":                                         nil,
			"?from=" + at(3) + "&to=" + at(6):                           all[10:13],
			"?status=pending&from=" + at(4) + "&to=" + at(9):            {all[7], all[11]},
			"?limit=2&from=" + at(3):                                    all[:13],
			"?mobile=9876543210&limit=3":                                all[:15],
			"?mobile=%2B91+98765-43210&status=failed":                   of["failed"],
			"?mobile=9876543210&status=success&limit=1":                 of["success"],
			"?mobile=9876543210&ref_id=ref+3":                           all[12:13],
			"?mobile=9876543210&from=" + at(3) + "&to=" + at(6):         all[10:13],
			"?mobile=9876543211":                                        nil,
			"?mobile=1023456789":                                        all[15:],
			"?mobile=1023456789&type=dth&batch_id=" + batchID:           all[15:],
			"?type=dth":                  all[15:],
			"?type=prepaid&limit=4":      all[:15],
			"?amount_min=350.5":          all[15:],
			"?amount_max=350.49&limit=5": all[:15],
			"?amount_min=10&amount_max=10&status=failed&limit=1": of["failed"],
			"?amount_min=11&batch_id=" + batchID:                 all[15:],
			"?to=" + at(3):                                       all[13:],
			"?to=2026-11-20":                                     all,
			"?from=2026-11-21":                                   nil,
			"?from=1960-01-01&to=9999-12-31":                     all,
		} {
			if diff := cmp.Diff(append([]string{}, want...), append([]string{}, d.listAll(d.tenant.Keys[schema.Sandbox], "/v1/recharge"+path)...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
			separate := "?"
			if path != "" {
				separate = "&"
			}
			// Totals are those of all pages, whatever the size of a page.
			totals := d.totals("/v1/recharge" + path + separate + "totals=true")
			bare := strings.NewReplacer("limit=16", "", "limit=5", "", "limit=4", "", "limit=3", "", "limit=2", "", "limit=1", "").Replace("/v1/recharge" + path)
			bare = strings.TrimSuffix(strings.ReplaceAll(strings.ReplaceAll(bare, "?&", "?"), "&&", "&"), "&")
			recomputed := d.recomputedTotals(strings.TrimSuffix(bare, "?"))
			if diff := cmp.Diff(&recomputed, totals); diff != "" {
				t.Errorf("totals of %s (-want +got):\n%s", path, diff)
			}
			if totals.Count != int64(len(want)) {
				t.Errorf("totals of %s: %d are counted, want %d", path, totals.Count, len(want))
			}
		}
	})
}

func TestListParameterFaults(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		for i := range 3 {
			d.insertRecharge(i, d.tenant.In(schema.Sandbox), schema.RechargePending, time.Now(), "")
		}
		cursor := d.sandboxRequest("GET", "/v1/recharge?limit=1", "").Want(t, "a page", 200).TextAt("next_cursor")
		for query, field := range map[string]string{
			"status=done": "status", "status=": "status", "state=failed": "state", "limit=0": "limit", "limit=1001": "limit", "from=yesterday": "from",
			"to=2026-02-30": "to", "from=2026-11-02&to=2026-11-01": "from", "cursor=x": "cursor", "ref_id=a&ref_id=b": "ref_id", "ref_id=": "ref_id",
			"limit=1&status=failed&cursor=" + cursor: "cursor", // of another list
			"mobile=12":                              "mobile", "mobile=%27+OR+1": "mobile", "mobile=919876543210123": "mobile",
			"totals=yes": "totals", "totals=": "totals", "type=postpaid": "type", "amount_min=1e99": "amount_min", "amount_min=a": "amount_min", "amount_max=-1": "amount_max",
			"amount_max=1.001": "amount_max", "amount_min=2&amount_max=1": "amount_min", "limit=1&amount_min=1&cursor=" + cursor: "cursor",
			"limit=1&mobile=9876543210&cursor=" + cursor: "cursor", "limit=1&type=dth&cursor=" + cursor: "cursor",
		} {
			d.sandboxRequest("GET", "/v1/recharge?"+query, "").WantError(t, query, 400, schema.InvalidRequest, field)
		}
		d.liveRequest("GET", "/v1/recharge?limit=1&cursor="+cursor, "").WantError(t, "of the other world", 400, schema.InvalidRequest, "cursor")
		d.sandboxRequest("GET", "/v1/recharge?limit=1&cursor="+cursor, "").Want(t, "the next page", 200)
		for _, query := range []string{"?limit=1", "?totals=false", "?limit=1&totals=true&cursor=" + cursor} {
			if totals := d.totals("/v1/recharge" + query); totals != nil {
				t.Errorf("%s: got totals %v, want none", query, *totals)
			}
		}
	})
}

func TestMaskedRechargesAreFoundAsShown(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		mine, other := d.tenant.In(schema.Sandbox), accesstest.AddTenant(t, d.DB, "other").In(schema.Sandbox)
		var ids []string
		for i, o := range []schema.Owner{mine, mine, mine, other} {
			ids = append(ids, d.insertRecharge(i, o, schema.RechargeSuccess, time.Date(2026, 11, 20, i, 0, 0, 0, time.UTC), ""))
		}
		for _, id := range []string{ids[0], ids[1], ids[3]} {
			sqlstoretest.Exec(t, d.DB, "UPDATE recharge SET number = 'XXXXXX3210', number_digest = $2 WHERE id = $1", id, []byte("digest"))
		}
		for query, want := range map[string][]string{
			"mobile=XXXXXX3210": {ids[1], ids[0]}, "mobile=xxxxxx3210&limit=1": {ids[1], ids[0]}, "mobile=XXXXXX3210&status=failed": {},
			"mobile=XXXXX3210": {}, "mobile=XXXXXX3211": {}, "mobile=9876543210": {ids[2]}, "mobile=XXXXXX3210&type=dth": {},
		} {
			if diff := cmp.Diff(want, append([]string{}, d.listAll(d.tenant.Keys[schema.Sandbox], "/v1/recharge?"+query)...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
		if totals := d.totals("/v1/recharge?mobile=XXXXXX3210&totals=true"); totals.Count != 2 {
			t.Errorf("got totals of %d recharges, want 2", totals.Count)
		}
		for _, text := range []string{"XXX3210", "XXXXXXXXX3210", "XXXXXXXXXX", "XXXXXX321", "9XXXXX3210"} {
			d.sandboxRequest("GET", "/v1/recharge?mobile="+text, "").WantError(t, text, 400, schema.InvalidRequest, "mobile")
		}
	})
}
