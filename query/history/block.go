package history

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
)

// blockDays is the number of days in a block. A range of one year lies in at most two blocks.
const blockDays = 512

// block holds the records of up to blockDays days as JSON text. A comma precedes
// each record. The answer for a range of days contains a part of this text.
type block struct {
	label  string
	first  schema.Day
	text   []byte
	starts []int32 // offset in `text` of each day from `first` on, then the end of `text`; a day without a record is empty
	hash   uint64
}

func blockOf(d schema.Day) schema.Day {
	n := d / blockDays
	if d%blockDays < 0 {
		n--
	}
	return n
}

// daysOf returns the first and the last day of the block with number n.
func daysOf(n schema.Day) Span { return Span{n * blockDays, (n+1)*blockDays - 1} }

func newBlock(number schema.Day, label string, days []row) *block {
	b := &block{label: label, first: number * blockDays, starts: make([]int32, 1, blockDays+1)}
	b.text = make([]byte, 0, 230*len(days))
	next := 0
	for d := b.first; d < b.first+blockDays; d++ {
		if next < len(days) && days[next].day == d {
			b.text = append(b.text, ',')
			b.text = days[next].append(b.text, label)
			next++
		}
		b.starts = append(b.starts, int32(len(b.text)))
	}
	b.hash = xxhash.Sum64(b.text)
	return b
}

// append appends the row to b as a JSON record of the place `label`.
func (r *row) append(b []byte, label string) []byte {
	record := r.Record(label)
	b = record.Append(b)
	if r.day != hourOnly {
		b = append(b, `,"date":"`...)
		b = appendDay(b, r.day)
		b = append(b, '"')
	}
	return append(b, '}')
}

// cut returns the JSON text of the records that the block has for the given days.
func (b *block) cut(days Span) []byte {
	i, j := max(days.First-b.first, 0), min(days.Last-b.first+1, blockDays)
	return b.text[b.starts[i]:b.starts[j]]
}

// blocks returns the blocks that cover a range of days. It renders the blocks that are not cached, and caches them. It
// does not cache a block for which it could not read the values for gap filling.
func (c *cache) blocks(
	ctx context.Context, p *entry, rows []row, label string, days Span, neighbours func() []string,
) []*block {
	var out []*block
	for n := blockOf(days.First); n <= blockOf(days.Last); n++ {
		p.mu.Lock()
		b, marks := p.blocks[n], p.invalidations
		p.mu.Unlock()
		if b != nil && b.label == label {
			out = append(out, b)
			continue
		}
		filled, whole := c.filled(ctx, p, between(rows, daysOf(n)), neighbours)
		b = newBlock(n, label, filled)
		out = append(out, b)
		if whole {
			c.storeBlock(p, n, b, marks)
		}
	}
	return out
}

// uncachedBlocks renders rows as blocks without caching them.
func uncachedBlocks(label string, rows []row) []*block {
	var out []*block
	for n := blockOf(rows[0].day); n <= blockOf(rows[len(rows)-1].day); n++ {
		out = append(out, newBlock(n, label, between(rows, daysOf(n))))
	}
	return out
}

func (c *cache) storeBlock(p *entry, n schema.Day, b *block, marks uint64) {
	defer c.evictToLimit()
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.blocks[n]
	if p.invalidations != marks || old != nil && old.label == b.label {
		return
	}
	if old != nil {
		c.addBytes(p, -int64(cap(old.text)+4*cap(old.starts)))
	}
	p.blocks[n] = b
	c.addBytes(p, int64(cap(b.text)+4*cap(b.starts)))
}

// dropBlocks removes the cached blocks that contain the given day or later days.
// The caller must hold p.mu.
func (c *cache) dropBlocks(p *entry, from schema.Day) {
	for n, b := range p.blocks {
		if n >= blockOf(from) {
			c.addBytes(p, -int64(cap(b.text)+4*cap(b.starts)))
			delete(p.blocks, n)
		}
	}
}

// rangeResponse assembles the answer for a range of days from blocks. It returns
// false if no day has a record.
func rangeResponse(label string, days Span, kinds aggregate.KindSet, blocks []*block) (httpapi.Response, bool) {
	head, end := appendRangeHead(make([]byte, 0, 160), label, days, "day"), rangeEnd
	if kinds != 0 {
		end = kinds.AppendTo(slices.Clone(rangeEnd))
	}
	hash := xxhash.New()
	_, _ = hash.Write(head)
	resp := httpapi.Response{Tail: make([][]byte, 0, len(blocks)+1)}
	size := len(head) + len(end)
	_, _ = hash.Write(end)
	for _, b := range blocks {
		_, _ = hash.WriteString(strconv.FormatUint(b.hash, 16))
		cut := b.cut(days)
		if len(cut) == 0 {
			continue
		}
		if len(resp.Tail) == 0 {
			cut = cut[1:] // no comma before the first record of the answer
		}
		size += len(cut)
		resp.Tail = append(resp.Tail, cut)
	}
	if len(resp.Tail) == 0 {
		return httpapi.Response{}, false
	}
	resp.Tail = append(resp.Tail, end)
	resp.Body = head
	resp.ETag = []string{`"` + strconv.FormatUint(hash.Sum64(), 16) + `"`}
	resp.Length = []string{strconv.Itoa(size)}
	return resp, true
}

var rangeEnd = []byte("]}")

func appendRangeHead(b []byte, label string, days Span, interval string) []byte {
	b = append(b, `{"status":"success","city":`...)
	b = air.AppendString(b, label)
	b = append(b, `,"from":"`...)
	b = appendDay(b, days.First)
	b = append(b, `","to":"`...)
	b = appendDay(b, days.Last)
	b = append(b, `","interval":"`...)
	b = append(b, interval...)
	return append(b, `","records":[`...)
}

// rangeBody returns the answer for a range whose records are made from `rows`. `interval` is "day" or "hour".
func rangeBody(label string, days Span, interval string, rows []row) []byte {
	b := appendRangeHead(make([]byte, 0, 160+260*len(rows)), label, days, interval)
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = rows[i].append(b, label)
	}
	return append(b, rangeEnd...)
}

// AppendRange appends the answer for a range whose records are made from `all`. For each record it calls `extend` with
// a text b that ends with the record's JSON object; `extend` adds fields to that object.
func AppendRange(b []byte, label string, days Span, hourly bool, all []Dated, extend func(b []byte, d *Dated) ([]byte, error)) ([]byte, error) {
	interval := "day"
	if hourly {
		interval = "hour"
	}
	b = appendRangeHead(b, label, days, interval)
	for i := range all {
		if i > 0 {
			b = append(b, ',')
		}
		r := row{all[i].Day, all[i].Figures}
		if hourly {
			r.day = hourOnly
		}
		var err error
		if b, err = extend(r.append(b, label), &all[i]); err != nil {
			return nil, err
		}
	}
	return append(b, rangeEnd...), nil
}

func appendDay(b []byte, d schema.Day) []byte {
	return time.Unix(int64(d)*86400, 0).UTC().AppendFormat(b, time.DateOnly)
}
