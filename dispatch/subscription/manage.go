package subscription

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// nextRevision increments the counter of changes of subscriptions, and returns the new value. The counter stays locked
// until the transaction ends, so changes commit in the order of their revisions.
func nextRevision(tx *sqlstore.Tx) (revision int64, err error) {
	err = tx.QueryRow("UPDATE webhook_revision SET n = n + 1 WHERE id = 1 RETURNING n").Scan(&revision)
	if err != nil {
		return 0, fmt.Errorf("counting a change of webhooks: %w", err)
	}
	return revision, nil
}

// Spec is a subscription to create.
type Spec struct {
	schema.Owner
	URL    string
	Events []schema.EventType
	Secret string // empty to generate one
	// ClearNumbers means that recharge.* events contain unmasked mobile numbers.
	ClearNumbers bool
}

// Made is a subscription after its creation or a rotation. Secret is the generated secret; "" if the client has chosen
// one.
type Made struct {
	Webhook schema.Webhook
	Secret  string
}

// Create stores a subscription of an existing account. It returns a *schema.Problem if the owner has too many
// subscriptions. It does not validate spec, because the handler has done so.
func (cache *Cache) Create(tx *sqlstore.Tx, spec Spec, now time.Time) (Made, audit.Entry, error) {
	revision, err := nextRevision(tx) // also makes concurrent creations wait for each other, so that checkLimit counts all
	if err != nil {
		return Made{}, audit.Entry{}, err
	}
	if err := cache.checkLimit(tx, spec.Owner); err != nil {
		return Made{}, audit.Entry{}, err
	}
	id := idPrefix + ulid.MustNewDefault(now).String()
	secret, made := secretOr(spec.Secret)
	_, err = tx.Exec(`
		INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, clear_numbers, secret, secret_last4, created_at, revision)
		VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8, $9, $10, $11)`,
		id, spec.Account, spec.World.String(), spec.URL, schema.Join(spec.Events, " "), schema.EventVersion, sqlstore.BoolToInt(spec.ClearNumbers),
		secretColumn.Encrypt(cache.Cipher, []byte(secret), id), lastFour(secret), now.UnixMicro(), revision)
	if err != nil {
		return Made{}, audit.Entry{}, fmt.Errorf("making a webhook: %w", err)
	}
	r, err := recordOf(tx, spec.Owner, id)
	if err != nil {
		return Made{}, audit.Entry{}, err
	}
	detail := map[string]any{"host": hostOf(r.URL), "events": r.Events}
	if r.ClearNumbers {
		detail["clear_numbers"] = true
	}
	return Made{r.wire(now), made}, entry("webhook.create", r, detail), nil
}

// countThere counts the subscriptions of an owner by the index webhook_account. The index omits deleted subscriptions.
// These stay in the table for their deliveries, and may be many more.
const countThere = "SELECT COUNT(*) FROM webhook WHERE account_id = $1 AND mode = $2 AND deleted_at IS NULL"

func (cache *Cache) checkLimit(tx *sqlstore.Tx, of schema.Owner) error {
	var plan string
	if err := tx.QueryRow("SELECT plan FROM account WHERE id = $1", of.Account).Scan(&plan); err != nil {
		return fmt.Errorf("reading the plan of an account: %w", err)
	}
	var n int
	if err := tx.QueryRow(countThere, of.Account, of.World.String()).Scan(&n); err != nil {
		return fmt.Errorf("counting webhooks: %w", err)
	}
	most := cache.Limits.of(plan, of.World)
	if n < most {
		return nil
	}
	where := "with the plan " + plan
	if of.World == schema.Sandbox {
		where = "in the sandbox"
	}
	return schema.NewProblem(schema.InvalidRequest, "", "An account has at most "+strconv.Itoa(most)+" webhooks "+where+", and this one has "+
		strconv.Itoa(n)+". Delete a webhook first.")
}

// secretOr returns the chosen secret and "". If `chosen` is empty, it generates a secret from 32 random bytes, and
// returns the new secret as both results.
func secretOr(chosen string) (secret, made string) {
	if chosen != "" {
		return chosen, ""
	}
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	made = "whsec_" + base64.RawURLEncoding.EncodeToString(raw[:])
	return made, made
}

func lastFour(secret string) string { return secret[len(secret)-4:] }

// Patch is a change of a subscription; nil fields are not changed.
type Patch struct {
	URL    *string
	Events []schema.EventType
	Active *bool
	// ClearNumbers turns unmasked mobile numbers on or off. Turning them on requires the scope recharge:read.
	ClearNumbers *bool
	// Readable are the event types that the key may read; nil for all. Update returns a problem if Readable lacks a type
	// that the change adds. If the change sets a new URL, Readable must include all types of the webhook.
	Readable []schema.EventType
}

// Update changes a subscription. It returns a *schema.Problem if the key may not make the change, or if the owner has
// no such subscription. If nothing changes, the audit entry is empty.
func (cache *Cache) Update(tx *sqlstore.Tx, of schema.Owner, id string, p Patch, now time.Time) (schema.Webhook, audit.Entry, error) {
	revision, err := nextRevision(tx)
	if err != nil {
		return schema.Webhook{}, audit.Entry{}, err
	}
	r, err := recordOf(tx, of, id)
	if err != nil {
		return schema.Webhook{}, audit.Entry{}, err
	}
	before := r.Subscription
	detail := p.apply(r)
	if p.Readable != nil {
		if err := p.mayGrant(&before, &r.Subscription); err != nil {
			return schema.Webhook{}, audit.Entry{}, err
		}
	}
	if len(detail) == 0 {
		return r.wire(now), audit.Entry{}, nil
	}
	_, err = tx.Exec("UPDATE webhook SET url = $2, events = $3, active = $4, clear_numbers = $5, revision = $6 WHERE id = $1",
		id, r.URL, schema.Join(r.Events, " "), sqlstore.BoolToInt(r.Active), sqlstore.BoolToInt(r.ClearNumbers), revision)
	if err != nil {
		return schema.Webhook{}, audit.Entry{}, fmt.Errorf("changing a webhook: %w", err)
	}
	return r.wire(now), entry("webhook.update", r, detail), nil
}
