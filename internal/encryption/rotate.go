package encryption

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
)

// Rotation says how a store gets another key.
type Rotation struct {
	Key config.Secret // the setting, as for Open
	Dir string        // of the key file, as for Open
	// Next is the new key when the old one is a setting. When that is a file the
	// new one is made.
	Next config.Secret
	// Columns are all that are sealed in the store.
	Columns []Column
	// Alone fails when somebody else uses the store; nil for no question.
	Alone func(tx *sqlstore.Tx) error

	at func(moment string) // told to tests; nil for nobody
}

// The moments of a rotation at which a test kills it.
const (
	atStart     = "start"
	atWritten   = "written"   // the new key is on disk
	atResealing = "resealing" // some values are resealed, and not committed
	atCommitted = "committed" // and the new key has not its place
	atPlaced    = "placed"
)

// Rotated is what a rotation did.
type Rotated struct {
	From, To string     // ids of keys
	Resealed []Resealed // in the order of Rotation.Columns; nil when Again
	Again    bool       // the store had the new key already
}

// Resealed is how many values of a column were sealed with the new key.
type Resealed struct {
	Table, Column string
	Values        int64
}

// Rotate gives a store another key: it seals every value anew, in one change
// together with the store's claim, and puts the new key in its place. One runs at
// a time in a directory, and no service uses the store.
//
// Killed at any moment it leaves a store that opens, with the old key or with the
// new one: a new key that is a file is on disk before the change begins, under the
// name that Claim looks for when the store asks for it. When an error comes back
// the store has the old key, unless the outcome of the change is unknown; then the
// file stays as well.
func Rotate(ctx context.Context, db *sqlstore.DB, r Rotation) (Rotated, error) {
	old, err := Open(r.Key, r.Dir)
	if err != nil {
		return Rotated{}, err
	}
	owner, err := Owner(db.View(ctx))
	switch {
	case err != nil:
		return Rotated{}, err
	case owner == "":
		return Rotated{}, errors.New("nothing is sealed in this store yet: it has no encryption key that could be rotated")
	}
	next, err := r.next()
	if err != nil {
		return Rotated{}, err
	}
	if next.KeyID() == owner && next.KeyID() != old.KeyID() { // killed after its commit, before it said so
		return Rotated{From: old.KeyID(), To: owner, Again: true}, nil
	}
	if err := old.Claim(ctx, db); err != nil {
		return Rotated{}, err
	}
	if next.KeyID() == old.KeyID() {
		return Rotated{}, errors.New("the new encryption key is the one that the store has")
	}
	return r.carry(ctx, db, old, next)
}

// next is a box with the new key.
func (r *Rotation) next() (*Box, error) {
	switch {
	case !r.Key.IsSet() && r.Next.IsSet():
		return nil, fmt.Errorf("the key of this store is the file %s, where the new one is put too: give none", filepath.Join(r.Dir, keyName))
	case !r.Key.IsSet():
		key := newKey()
		b := &Box{dir: r.Dir, file: key}
		err := b.take(key)
		return b, err
	case !r.Next.IsSet():
		return nil, errors.New("the key of this store is the setting encryption-key, so the new one is given too")
	}
	raw, err := parseKey(r.Next.Reveal())
	if err != nil {
		return nil, fmt.Errorf("reading the new encryption key: %w", err)
	}
	b := &Box{}
	err = b.take(raw)
	return b, err
}

// carry does the rotation from a box that has the claim.
func (r *Rotation) carry(ctx context.Context, db *sqlstore.DB, old, next *Box) (Rotated, error) {
	done := Rotated{From: old.KeyID(), To: next.KeyID()}
	file := filepath.Join(r.Dir, nextName(done.To))
	r.reach(atStart)
	if next.file != nil {
		if err := writeKey(next.file, file); err != nil {
			return Rotated{}, fmt.Errorf("writing the new encryption key: %w", err)
		}
	}
	r.reach(atWritten)
	refused := false // by the change itself, so that it is certainly not committed
	err := db.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		defer func() { refused = err != nil }()
		done.Resealed, err = r.reseal(tx, old, next)
		return err
	})
	if err != nil {
		if refused && next.file != nil {
			err = errors.Join(err, os.Remove(file))
		}
		return Rotated{}, fmt.Errorf("rotating the encryption key: %w", err)
	}
	r.reach(atCommitted)
	if next.file != nil {
		if err := next.adopt(done.To); err != nil {
			return Rotated{}, fmt.Errorf("the store has the encryption key %s now, and %s waits to become %s: %w", done.To, file, keyName, err)
		}
		r.sweep()
	}
	r.reach(atPlaced)
	return done, nil
}

func (r *Rotation) reach(moment string) {
	if r.at != nil {
		r.at(moment)
	}
}

// sweep removes the new keys of rotations that were killed before their commit:
// they have sealed nothing.
func (r *Rotation) sweep() {
	left, err := filepath.Glob(filepath.Join(r.Dir, nextName(strings.Repeat("?", 2*idSize))))
	if err != nil { // of the pattern
		return
	}
	for _, path := range left {
		_ = os.Remove(path) // the next rotation tries again
	}
}

// reseal is the change: the claim first, which keeps other rotations, and starts
// of instances, waiting until it is over. On a server a statement is usually ended
// after ten seconds; a page of a column that is NULL in millions of rows takes longer.
func (r *Rotation) reseal(tx *sqlstore.Tx, old, next *Box) ([]Resealed, error) {
	if tx.Name() == "postgres" {
		for _, limit := range []string{"SET LOCAL lock_timeout = '10s'", "SET LOCAL statement_timeout = '10min'"} {
			if _, err := tx.Exec(limit); err != nil {
				return nil, fmt.Errorf("taking the time that it needs: %w", err)
			}
		}
	}
	n, err := tx.Exec("UPDATE setting SET value = $1 WHERE name = $2 AND value = $3", next.KeyID(), claimName, old.KeyID())
	if err != nil {
		return nil, fmt.Errorf("claiming the store: %w", err)
	}
	if n != 1 {
		return nil, errors.New("another rotation has given the store another key meanwhile")
	}
	if r.Alone != nil {
		if err := r.Alone(tx); err != nil {
			return nil, err
		}
	}
	if _, err := tx.Exec("UPDATE setting SET value = $1 WHERE name = $2", next.sealDigestKey(old.digestKey), digestName); err != nil {
		return nil, fmt.Errorf("resealing the key of digests: %w", err)
	}
	var all []Resealed
	for _, c := range r.Columns {
		values, err := c.reseal(tx, old, next, func() { r.reach(atResealing) })
		if err != nil {
			return nil, err
		}
		all = append(all, Resealed{c.Table, c.Name, values})
	}
	return all, nil
}
