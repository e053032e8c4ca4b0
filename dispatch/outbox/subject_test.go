package outbox

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// subjectData is event data with a subject, the transaction or batch that it is about.
type subjectData struct {
	json.RawMessage

	subject string
}

// Subject returns the subject.
func (a subjectData) Subject() string { return a.subject }

// appendWithSubject commits one event of a type with a subject.
func (c *apiFixture) appendWithSubject(world schema.World, kind schema.EventType, subject string) (id string) {
	c.t.Helper()
	c.clock.Set(c.clock.Now().Add(time.Minute))
	if err := c.DB.Update(c.t.Context(), func(tx *sqlstore.Tx) (err error) {
		id, err = c.Append(tx, "acc_"+world.String(), world, kind, subjectData{schema.EventExample(kind), subject})
		return err
	}); err != nil {
		c.t.Fatal(err)
	}
	return id
}

const (
	oneRecharge   = "txn_01KAJ0A6Q3W8Y1B4D7F0H2K5M9"
	otherRecharge = "txn_01KAJ0A6Q3W8Y1B4D7F0H2K5MA"
)

func TestEventsAreFoundBySubject(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, c *apiFixture) {
		c.clock.Set(noon)
		pending := c.appendWithSubject(schema.Live, schema.EventRechargePending, oneRecharge)
		c.appendWithSubject(schema.Live, schema.EventRechargeCompleted, otherRecharge)
		c.appendEvents(schema.Live, 3, 0, schema.EventQuotaWarning) // which are about nothing
		completed := c.appendWithSubject(schema.Live, schema.EventRechargeCompleted, oneRecharge)
		refunded := c.appendWithSubject(schema.Live, schema.EventRechargeRefunded, oneRecharge)
		sandbox := c.appendWithSubject(schema.Sandbox, schema.EventRechargeCompleted, oneRecharge)
		ask := "subject=" + oneRecharge
		for query, want := range map[string][]string{
			ask:                                 {pending, completed, refunded},
			ask + "&limit=1":                    {pending, completed, refunded},
			ask + "&type=recharge.completed":    {completed},
			ask + "&type=recharge.failed":       {},
			ask + "&from=2026-11-21T12:02:30Z":  {completed, refunded},
			ask + "&to=2026-11-21T12:03:00Z":    {pending},
			"subject=" + oneRecharge[:29] + "Z": {},
			"subject=ver_" + oneRecharge[4:]:    {},
		} {
			if got, _ := c.list(schema.Live, query); !cmp.Equal(got, want) {
				t.Errorf("%q: %s", query, cmp.Diff(want, got))
			}
		}
		if got, _ := c.list(schema.Sandbox, ask); !slices.Equal(got, []string{sandbox}) {
			t.Errorf("the sandbox has %v, want %s", got, sandbox)
		}
		if n := c.count("event WHERE subject = '' AND type = 'quota.warning'"); n != 3 {
			t.Errorf("%d events are about nothing, want 3", n)
		}
		// The envelope does not depend on the subject.
		want := fmt.Sprintf(`"type":"recharge.refunded","created":%d,"api_version":"2026-11-01","data":`, noon.Add(4*time.Minute).Unix())
		if r := c.get(schema.Live, "/v1/events/"+refunded); !strings.Contains(r.text, want+string(schema.EventExample(schema.EventRechargeRefunded))) || strings.Contains(r.text, `"subject"`) {
			t.Errorf("the event is %s", r.text)
		}
	})
}

func TestSubjectFormat(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, c *apiFixture) {
		c.appendWithSubject(schema.Live, schema.EventRechargePending, oneRecharge)
		c.appendWithSubject(schema.Live, schema.EventRechargeCompleted, oneRecharge)
		for _, subject := range []string{
			"", "txn_", "txn_1", "evt_01KAJ0A6Q3W8Y1B4D7F0H2K5M9", "TXN_01KAJ0A6Q3W8Y1B4D7F0H2K5M9", "txn_01kaj0a6q3w8y1b4d7f0h2k5m9",
			"txn_01KAJ0A6Q3W8Y1B4D7F0H2K5MU", oneRecharge + "0", "%00", "txn_%2501",
		} {
			r := c.get(schema.Live, "/v1/events?subject="+subject)
			if r.status != http.StatusBadRequest || r.Error.Code != schema.InvalidRequest || r.Error.Field != "subject" {
				t.Errorf("%q: got %d %s", subject, r.status, r.text)
			}
		}
		cursor := *c.get(schema.Live, "/v1/events?limit=1&subject="+oneRecharge).Next
		for _, query := range []string{"", "subject=" + otherRecharge + "&"} {
			if r := c.get(schema.Live, "/v1/events?"+query+"cursor="+cursor); r.Error.Field != "cursor" {
				t.Errorf("another list took the cursor: %d %s", r.status, r.text)
			}
		}
		for _, prefix := range subjectPrefixes {
			if !isSubject(prefix + oneRecharge[4:]) {
				t.Errorf("%s begins no subject", prefix)
			}
		}
	})
}

// Events of one subject are found by their index, with any other filters.
func TestSubjectUsesIndex(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		sqlstoretest.Exec(t, d.DB, `INSERT INTO event (id, account_id, mode, type, created_at, envelope, subject)
			WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 20000)
			SELECT 'evt_' || CAST(1000000 + i AS TEXT), 'acc_live', 'live', 'recharge.completed', 1, $1,
				CASE WHEN i % 2 = 0 THEN 'txn_' || CAST(i AS TEXT) ELSE '' END FROM n`, []byte("{}"))
		sqlstoretest.Exec(t, d.DB, "ANALYZE")
		for _, typ := range []string{"", "recharge.completed"} {
			ask := filter{account: "acc_live", mode: "live", typ: typ, subject: "txn_4242", to: math.MaxInt64, limit: 100}
			text, args := ask.query("", "evt_Z")
			if got := sqlstoretest.Plan(t, d.DB, text, args...); !strings.Contains(got, "event_subject ") || strings.Contains(got, "TEMP B-TREE") {
				t.Errorf("type %q: the index is not used:\n%s", typ, got)
			}
		}
	})
}
