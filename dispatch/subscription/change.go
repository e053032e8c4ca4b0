package subscription

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

func entry(action string, r *record, detail map[string]any) audit.Entry {
	return audit.Entry{Account: r.Account, World: r.World, Action: action, Subject: r.ID, Detail: detail}
}

// hostOf returns the host of a URL, for the audit log. The rest of the URL is not logged, because it often contains a
// credential, and the audit log is never deleted.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// hostAndPort returns the normalised host and port of a URL.
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

// mayGrant returns a problem if a change makes a subscription send data that the key of the request may not read.
func (p Patch) mayGrant(before, after *Subscription) error {
	if after.ClearNumbers && !before.ClearNumbers {
		if err := clearable(p.Readable); err != nil {
			return err
		}
	}
	return readable(p.Readable, granted(before, after))
}

// granted returns the event types that a subscription sends to its URL after a change, but did not send to it before.
// For a new URL, these are all of its types.
func granted(before, after *Subscription) []schema.EventType {
	if after.URL != before.URL {
		return after.Events
	}
	return slices.DeleteFunc(slices.Clone(after.Events), func(e schema.EventType) bool { return slices.Contains(before.Events, e) })
}

// Delete marks a subscription of an owner as deleted, and erases its secrets. It returns a *schema.Problem if the owner
// has no such subscription.
func (cache *Cache) Delete(tx *sqlstore.Tx, of schema.Owner, id string, now time.Time) (audit.Entry, error) {
	revision, err := nextRevision(tx)
	if err != nil {
		return audit.Entry{}, err
	}
	r, err := recordOf(tx, of, id)
	if err != nil {
		return audit.Entry{}, err
	}
	_, err = tx.Exec("UPDATE webhook SET deleted_at = $2, secret = $3, previous_secret = NULL, previous_until = NULL, revision = $4 WHERE id = $1",
		id, now.UnixMicro(), []byte{}, revision)
	if err != nil {
		return audit.Entry{}, fmt.Errorf("deleting a webhook: %w", err)
	}
	return entry("webhook.delete", r, map[string]any{"host": hostOf(r.URL)}), nil
}

// Rotation is a request for a new secret.
type Rotation struct {
	Grace  time.Duration // how long attempts are signed with the old secret, too; whole seconds
	Secret string        // empty to generate one
}

// Rotate gives a subscription a new secret. During the grace period, attempts are signed with the previous secret, too;
// older secrets no longer count. Rotate returns a *schema.Problem if the subscription does not exist. It does not
// validate the rotation, because the handler has done so.
//
// For up to 300 ms after the commit, instances may still sign with the old secret only. The handler must delay its
// reply until then.
func (cache *Cache) Rotate(tx *sqlstore.Tx, of schema.Owner, id string, n Rotation, now time.Time) (Made, audit.Entry, error) {
	revision, err := nextRevision(tx)
	if err != nil {
		return Made{}, audit.Entry{}, err
	}
	if _, err := recordOf(tx, of, id); err != nil {
		return Made{}, audit.Entry{}, err
	}
	secret, made := secretOr(n.Secret)
	previous, args := "previous_secret = NULL, previous_until = NULL", []any{id, secretColumn.Encrypt(cache.Cipher, []byte(secret), id), lastFour(secret), revision}
	if n.Grace > 0 {
		// UPDATE reads the row as it was before, so that previous_secret becomes the secret before the rotation.
		previous, args = "previous_secret = secret, previous_until = $5", append(args, now.Add(n.Grace).UnixMicro())
	}
	if _, err := tx.Exec("UPDATE webhook SET secret = $2, secret_last4 = $3, revision = $4, "+previous+" WHERE id = $1", args...); err != nil {
		return Made{}, audit.Entry{}, fmt.Errorf("rotating the secret of a webhook: %w", err)
	}
	r, err := recordOf(tx, of, id)
	if err != nil {
		return Made{}, audit.Entry{}, err
	}
	return Made{r.wire(now), made}, entry("webhook.rotate", r, map[string]any{"grace_seconds": int64(n.Grace / time.Second)}), nil
}

// testable returns the subscription for a test event, and the type of the event. If `event` is "", the type is the
// first type of the subscription. If the subscription does not have the type `event`, testable returns a problem.
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
	return nil, "", schema.NewProblem(schema.InvalidRequest, "type", "The webhook is not subscribed to this type. Its types are "+schema.Join(r.Events, ", ")+".")
}
