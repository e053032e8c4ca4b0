// Package tablecache keeps tables of the state store in memory. A Follower refreshes a cache four times per second. A
// Map holds the content of a cache. Lookups in a Map need no lock, and a change copies only a small part of the Map.
package tablecache

import (
	"hash/maphash"
	"iter"
	"maps"
)

// shardCount is large, so that a change of one entry copies little: one shard (400 of 100,000 entries), and the array
// of shards (2 KiB).
const shardCount = 256

// Map is an immutable map. A nil Map is empty.
type Map[K comparable, V any] struct {
	seed   maphash.Seed
	shards [shardCount]map[K]V
	size   int
}

// Get returns the value of a key, or the zero value for a missing key.
func (m *Map[K, V]) Get(key K) (value V) {
	if m == nil {
		return value
	}
	return m.shards[m.shardOf(key)][key]
}

// Len returns the number of keys.
func (m *Map[K, V]) Len() int {
	if m == nil {
		return 0
	}
	return m.size
}

// All returns every key with its value, in no order.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if m == nil {
			return
		}
		for _, shard := range &m.shards {
			for key, value := range shard {
				if !yield(key, value) {
					return
				}
			}
		}
	}
}

// Edit returns a draft of the next version of the Map. The draft starts as a copy of the Map.
func (m *Map[K, V]) Edit() *Draft[K, V] {
	if m == nil {
		return &Draft[K, V]{next: &Map[K, V]{seed: maphash.MakeSeed()}}
	}
	next := *m
	return &Draft[K, V]{next: &next}
}

func (m *Map[K, V]) shardOf(key K) int { return int(maphash.Comparable(m.seed, key) % shardCount) }

// Draft is the next version of a Map under construction. It is for one goroutine.
type Draft[K comparable, V any] struct {
	next   *Map[K, V]
	copied [shardCount]bool
}

// Get returns the value of a key in the draft, or the zero value for a missing key.
func (d *Draft[K, V]) Get(key K) V { return d.next.Get(key) }

// Put sets the value of a key.
func (d *Draft[K, V]) Put(key K, value V) {
	shard := d.shard(key)
	before := len(shard)
	shard[key] = value
	d.next.size += len(shard) - before
}

// Delete removes a key, if present.
func (d *Draft[K, V]) Delete(key K) {
	shard := d.shard(key)
	before := len(shard)
	delete(shard, key)
	d.next.size += len(shard) - before
}

// Map returns the new version. The draft must not be changed afterwards.
func (d *Draft[K, V]) Map() *Map[K, V] { return d.next }

// shard returns the draft's copy of the shard of a key.
func (d *Draft[K, V]) shard(key K) map[K]V {
	i := d.next.shardOf(key)
	if !d.copied[i] {
		d.copied[i] = true
		if d.next.shards[i] = maps.Clone(d.next.shards[i]); d.next.shards[i] == nil {
			d.next.shards[i] = map[K]V{}
		}
	}
	return d.next.shards[i]
}
