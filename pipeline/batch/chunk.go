package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/batch/body"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// chunk is a part of a batch that this instance has leased.
type chunk struct {
	batch                string
	first, count         int
	owner                schema.Owner
	key, request, client string
	token                string
	tries                int // consecutive leases under which no record was done, for the backoff
	bytes                []byte
	size                 int   // length of bytes before decryption
	begun                []int // indexes of records that have an item (a row in batch_item)

	queue     *accountQueue
	ready     int  // queued records
	inFlight  int  // records in flight
	toRetry   int  // records to retry
	done      int  // records done under this lease
	lost      bool // another instance has the lease
	releasing bool // its lease is being released, or it is removed because the lease is lost
}

// leaseRequest limits the number of chunks to lease for an account.
type leaseRequest struct {
	account   string
	maxChunks int
}

// leases has the SQL statements that lease rows of the table batch_chunk.
var leases = workqueue.NewLeases("batch_chunk", "batch_id", "first BIGINT")

const (
	// selectDue finds due chunks of an account, the oldest batch first. It uses the index batch_chunk_account.
	selectDue = `SELECT c.batch_id, c.first, c.count, c.tries, length(c.records), b.state, b.mode, b.key_id, b.request_id, b.client
		FROM batch_chunk c JOIN batch b ON b.id = c.batch_id
		WHERE c.kind = $1 AND c.account_id = $2 AND c.due_at <= $3 ORDER BY c.batch_id, c.first LIMIT $4`
	selectRecords = "SELECT records FROM batch_chunk WHERE batch_id = $1 AND first = $2"
	selectBegun   = "SELECT place FROM batch_item WHERE batch_id = $1 AND place >= $2 AND place < $3"
	beginBatch    = "UPDATE batch SET state = 'processing' WHERE id = $1 AND state = 'queued'"
)

// claim leases due chunks: at most maxChunks for each account in `wants`, and at most maxBytes of records in total. The
// first chunk is leased whatever its size. `whole` is false if maxBytes excluded a chunk; then every account may have
// more due chunks. If `whole` is true, only accounts that got as many chunks as their maxChunks may have more.
func claim(tx *sqlstore.Tx, now time.Time, kind string, wants []leaseRequest, own workqueue.Lease, maxBytes int) (all []*chunk, whole bool, err error) {
	queued := map[string]bool{}
	var keys [][]any
	whole = true
	for _, w := range wants {
		due, err := dueOf(tx, now, w, kind, queued)
		if err != nil {
			return nil, false, fmt.Errorf("finding due chunks of %s: %w", w.account, err)
		}
		for _, c := range due {
			if len(all) > 0 && c.size > maxBytes {
				whole = false
				break
			}
			maxBytes -= c.size
			c.token = own.Token
			if err := c.read(tx); err != nil {
				return nil, false, fmt.Errorf("reading records %d of %s: %w", c.first, c.batch, err)
			}
			all, keys = append(all, c), append(keys, c.primaryKey())
		}
	}
	if err := leases.Claim(tx, own, keys); err != nil {
		return nil, false, fmt.Errorf("leasing %d chunks: %w", len(all), err)
	}
	// Every instance updates batches in the same order, so that instances cannot deadlock.
	for _, id := range slices.Sorted(maps.Keys(queued)) {
		if _, err := tx.Exec(beginBatch, id); err != nil {
			return nil, false, fmt.Errorf("beginning %s: %w", id, err)
		}
	}
	return all, whole, nil
}

// dueOf returns the due chunks of an account, without their records. If a chunk's batch has the state queued, dueOf
// adds the id of the batch to the map `queued`.
func dueOf(tx *sqlstore.Tx, now time.Time, w leaseRequest, kind string, queued map[string]bool) ([]*chunk, error) {
	return workqueue.SelectDue(tx, "c", func(row sqlstore.Scanner) (*chunk, error) {
		c := &chunk{}
		var state, mode string
		err := row.Scan(&c.batch, &c.first, &c.count, &c.tries, &c.size, &state, &mode, &c.key, &c.request, &c.client)
		c.owner = schema.Owner{Account: w.account, World: schema.WorldOf(mode)}
		if state == string(schema.BatchQueued) {
			queued[c.batch] = true
		}
		return c, err
	}, selectDue, kind, w.account, now.UnixMicro(), w.maxChunks)
}

// primaryKey returns the chunk's key: the batch id, and the index of the chunk's first record.
func (c *chunk) primaryKey() []any { return []any{c.batch, c.first} }

// read reads the encrypted records of a chunk, and the indexes of its records that have a row in batch_item.
func (c *chunk) read(tx *sqlstore.Tx) error {
	if err := tx.QueryRow(selectRecords, c.batch, c.first).Scan(&c.bytes); err != nil {
		return err
	}
	var err error
	c.begun, err = sqlstore.All(tx, sqlstore.Scalar[int], selectBegun, c.batch, c.first, c.first+c.count)
	return err
}

func (c *chunk) decrypted(cipher *encryption.Cipher) (todo []chunkRecord, refused []duplicateRecord, err error) {
	if c.bytes, err = encryptedRecords.Decrypt(cipher, c.bytes, c.batch, strconv.Itoa(c.first)); err != nil {
		return nil, nil, err
	}
	return c.records()
}

// records returns the records of a chunk that are not yet in the table batch_item. `todo` are the records to process,
// and `refused` are the duplicates to reject.
func (c *chunk) records() (todo []chunkRecord, refused []duplicateRecord, err error) {
	stored, duplicates, err := body.CutDuplicates(c.bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("reading records %d of %s: %w", c.first, c.batch, err)
	}
	// The brackets turn the list of records into one JSON array. From a bytes.Buffer, the decoder reads without a copy.
	text := slices.Concat([]byte("["), stored, []byte("]"))
	c.bytes = nil
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if _, err := d.ReadToken(); err != nil {
		return nil, nil, err
	}
	todo = make([]chunkRecord, 0, c.count-len(c.begun)-len(duplicates))
	index := c.first
	for ; d.PeekKind() != jsontext.KindEndArray; index++ {
		value, err := d.ReadValue()
		if err != nil {
			return nil, nil, fmt.Errorf("reading record %d of %s: %w", index, c.batch, err)
		}
		end := int(d.InputOffset())
		if slices.Contains(c.begun, index) {
			continue
		}
		r := chunkRecord{c, index, text[end-len(value) : end : end]}
		if first, there := duplicates[index]; there {
			refused = append(refused, duplicateRecord{r, first})
		} else {
			todo = append(todo, r)
		}
	}
	if index != c.first+c.count {
		return nil, nil, fmt.Errorf("reading records %d of %s: there are %d, want %d", c.first, c.batch, index-c.first, c.count)
	}
	return todo, refused, nil
}

// chunkRecord is a record of a chunk, with its index in the batch.
type chunkRecord struct {
	chunk *chunk
	index int
	value []byte
}

func (r chunkRecord) item() item.Item {
	c := r.chunk
	return item.Item{Batch: c.batch, Index: r.index, Owner: c.owner, Record: r.value, Key: c.key, Request: c.request, Client: c.client}
}

const (
	// deleteDone deletes a chunk only if each of its records has a row in batch_item.
	deleteDone = `DELETE FROM batch_chunk WHERE batch_id = $1 AND first = $2
		AND count = (SELECT COUNT(*) FROM batch_item WHERE batch_id = $1 AND place >= $2 AND place < $3)`
	setTries          = "UPDATE batch_chunk SET tries = $4 WHERE batch_id = $1 AND first = $2 AND token = $3"
	expireLeasesQuery = "UPDATE batch_chunk SET due_at = $2, token = '' WHERE kind = $1 AND token <> ''"
)

// finish deletes a chunk if all its records are in the table batch_item. It reports whether it has deleted the chunk.
func (c *chunk) finish(tx *sqlstore.Tx) (bool, error) {
	n, err := tx.Exec(deleteDone, c.batch, c.first, c.first+c.count)
	if err != nil {
		return false, fmt.Errorf("finishing records %d of %s: %w", c.first, c.batch, err)
	}
	return n == 1, nil
}

// release ends the lease of a chunk, and stores its due time and its number of tries. It does
// nothing if another instance has the lease.
func (c *chunk) release(tx *sqlstore.Tx, due time.Time, tries int) error {
	if tries != c.tries {
		if _, err := tx.Exec(setTries, c.batch, c.first, c.token, tries); err != nil {
			return fmt.Errorf("counting the tries of records %d of %s: %w", c.first, c.batch, err)
		}
	}
	if err := leases.Release(tx, []workqueue.Leased{{Key: c.primaryKey(), Token: c.token, Due: due}}); err != nil {
		return fmt.Errorf("releasing records %d of %s: %w", c.first, c.batch, err)
	}
	return nil
}

// selectAccounts jumps in the index batch_chunk_account from one account to the next. SELECT
// DISTINCT would read every row.
const selectAccounts = `WITH RECURSIVE queued (account_id) AS (
		SELECT min(account_id) FROM batch_chunk WHERE kind = $1
		UNION ALL
		SELECT (SELECT min(c.account_id) FROM batch_chunk c WHERE c.kind = $1 AND c.account_id > queued.account_id)
		FROM queued WHERE queued.account_id IS NOT NULL
	)
	SELECT account_id FROM queued WHERE account_id IS NOT NULL`

// accountsOf returns the accounts that have chunks of a kind, even if the chunks are leased.
func accountsOf(q sqlstore.Querier, kind string) ([]string, error) {
	all, err := sqlstore.All(q, sqlstore.Scalar[string], selectAccounts, kind)
	if err != nil {
		return nil, fmt.Errorf("listing the accounts with batches: %w", err)
	}
	return all, nil
}

// duplicateRecord is a record to reject, because an earlier record has the same ref_id.
type duplicateRecord struct {
	chunkRecord

	first int
}

// insertRefusals inserts several rejected records into batch_item.
var insertRefusals = sqlstore.NewBatchStatement(1, "INSERT INTO batch_item (batch_id, place, subject, outcome, refusal) VALUES ",
	"($1, ?, '', 'failed', ?)", " ON CONFLICT (batch_id, place) DO NOTHING")

// refuseDuplicates rejects the duplicates of a chunk in one transaction, and counts them as failed. If that completes
// the batch, it calls w.kind.Completed. refuseDuplicates is idempotent.
func (w *worker) refuseDuplicates(ctx context.Context, c *chunk, all []duplicateRecord) error {
	texts := make([][]byte, len(all))
	for i, d := range all {
		why := schema.NewProblem(schema.DuplicateRefID, "ref_id", fmt.Sprintf("Record %d of this batch has the same ref_id.", d.first))
		var err error
		if texts[i], err = json.Marshal(item.Refusal{RefID: item.RefOf(d.value), Error: *why}); err != nil {
			return fmt.Errorf("encoding the error of record %d of %s: %w", d.index, c.batch, err)
		}
	}
	return w.DB.Update(sqlstore.WithWorld(ctx, c.owner.World), func(tx *sqlstore.Tx) error {
		refused := int64(0)
		err := insertRefusals.Each(len(all), func(text string, from, to int) error {
			args := append(make([]any, 0, 1+2*(to-from)), c.batch)
			for i := from; i < to; i++ {
				args = append(args, all[i].index, texts[i])
			}
			n, err := tx.Exec(text, args...)
			refused += n
			return err
		})
		if err != nil {
			return fmt.Errorf("rejecting duplicates of %s: %w", c.batch, err)
		}
		if refused == 0 {
			return nil
		}
		done, err := item.Count(tx, w.Now(), c.batch, 0, int(refused))
		if err != nil || done == nil || w.kind.Completed == nil {
			return err
		}
		return w.kind.Completed(tx, done)
	})
}
