package subscription

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"vayu/internal/access"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// entry is what the audit log says of a change.
func entry(action string, r *record, detail map[string]any) access.Entry {
	return access.Entry{Account: r.Account, World: r.World, Action: action, Subject: r.ID, Detail: detail}
}

// hostOf is what the audit log says of a URL: the rest of it is for many
// receivers as good as a password, and the log is kept for ever.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// hostAndPort is where a URL leads, in one form for all URLs that lead there.
func hostAndPort(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), port)
}

// apply brings a change into a record and returns what has changed.
func (p Patch) apply(r *record) (detail map[string]any) {
	detail = map[string]any{}
	if p.URL != nil && *p.URL != r.URL {
		r.URL, detail["host"] = *p.URL, hostOf(*p.URL)
	}
	if p.Events != nil && !slices.Equal(p.Events, r.Events) {
		r.Events, detail["events"] = p.Events, p.Events
	}
	if p.Active != nil && *p.Active != r.Active {
		r.Active, detail["active"] = *p.Active, *p.Active
	}
	if p.ClearNumbers != nil && *p.ClearNumbers != r.ClearNumbers {
		r.ClearNumbers, detail["clear_numbers"] = *p.ClearNumbers, *p.ClearNumbers
	}
	return detail
}

// mayGrant refuses a change that has more sent to a URL than the key may read.
func (p Patch) mayGrant(before, after *Subscription) error {
	if after.ClearNumbers && !before.ClearNumbers {
		if err := clearable(p.Readable); err != nil {
			return err
		}
	}
	return readable(p.Readable, granted(before, after))
}

// granted returns the types of events that a change brings to a URL that did not get
// them before.
func granted(before, after *Subscription) []schema.EventType {
	if after.URL != before.URL {
		return after.Events
	}
	return slices.DeleteFunc(slices.Clone(after.Events), func(e schema.EventType) bool { return slices.Contains(before.Events, e) })
}

// Delete ends a subscription of an owner for ever, and removes its secrets. A
// *schema.Problem says that there is none.
func (b *Book) Delete(tx *sqlstore.Tx, of schema.Owner, id string, now time.Time) (access.Entry, error) {
	revision, err := raise(tx)
	if err != nil {
		return access.Entry{}, err
	}
	r, err := recordOf(tx, of, id)
	if err != nil {
		return access.Entry{}, err
	}
	_, err = tx.Exec("UPDATE webhook SET deleted_at = $2, secret = $3, previous_secret = NULL, previous_until = NULL, revision = $4 WHERE id = $1",
		id, now.UnixMicro(), []byte{}, revision)
	if err != nil {
		return access.Entry{}, fmt.Errorf("deleting a webhook: %w", err)
	}
	return entry("webhook.delete", r, map[string]any{"host": hostOf(r.URL)}), nil
}

// Rotation is a new secret that is asked for.
type Rotation struct {
	Grace  time.Duration // for which the old one signs as well; whole seconds
	Secret string        // empty for one that is made
}

// check names what is wrong with a rotation.
func (n Rotation) check(f *faults) {
	f.grace(n.Grace)
	if n.Secret != "" {
		f.secret(n.Secret)
	}
}

// Rotate gives a subscription of an owner another secret. The one that it had
// signs beside it for the grace; one from a rotation before that signs no more.
// A *schema.Problem names what is wrong with the rotation, or that there is no
// such subscription.
//
// Other instances sign with the new secret within 300 ms of the commit: whoever
// tells anybody that it is in force waits for so long.
func (b *Book) Rotate(tx *sqlstore.Tx, of schema.Owner, id string, n Rotation, now time.Time) (Made, access.Entry, error) {
	var f faults
	if n.check(&f); len(f.Faults) > 0 {
		return Made{}, access.Entry{}, f.Problem()
	}
	revision, err := raise(tx)
	if err != nil {
		return Made{}, access.Entry{}, err
	}
	if _, err := recordOf(tx, of, id); err != nil {
		return Made{}, access.Entry{}, err
	}
	secret, made := secretOr(n.Secret)
	// Both SETs read the row as it was.
	previous, args := "previous_secret = NULL, previous_until = NULL", []any{id, sealedSecret.Seal(b.Box, []byte(secret), id), lastFour(secret), revision}
	if n.Grace > 0 {
		previous, args = "previous_secret = secret, previous_until = $5", append(args, now.Add(n.Grace).UnixMicro())
	}
	if _, err := tx.Exec("UPDATE webhook SET secret = $2, secret_last4 = $3, revision = $4, "+previous+" WHERE id = $1", args...); err != nil {
		return Made{}, access.Entry{}, fmt.Errorf("rotating the secret of a webhook: %w", err)
	}
	r, err := recordOf(tx, of, id)
	if err != nil {
		return Made{}, access.Entry{}, err
	}
	return Made{r.wire(now), made}, entry("webhook.rotate", r, map[string]any{"grace_seconds": int64(n.Grace / time.Second)}), nil
}

// testable is the subscription that a test event goes to, and the event's type:
// the first of the subscription when event is empty.
func testable(tx *sqlstore.Tx, of schema.Owner, id string, event schema.EventType) (*record, schema.EventType, error) {
	r, err := recordOf(tx, of, id)
	switch {
	case err != nil:
		return nil, "", err
	case event == "" && len(r.Events) > 0:
		return r, r.Events[0], nil
	case slices.Contains(r.Events, event):
		return r, event, nil
	}
	return nil, "", schema.Refuse(schema.InvalidRequest, "type", "The webhook wants other types of events: "+joinEvents(r.Events, ", ")+".")
}
