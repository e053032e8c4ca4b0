package subscription

import "maps"

// shardCount keeps the copies small that a change makes. With 100,000 subscriptions it
// copies a shard of 400 of them, and the array of shards of 2 KiB.
const shardCount = 256

// table is a sharded map for copy-on-write.
type table[V any] struct {
	shards [shardCount]map[string]V
}

// shardOf returns the shard of a key, by the hash FNV-1a
// (datatracker.ietf.org/doc/html/rfc9923).
func shardOf(key string) int {
	hash := uint32(2166136261)
	for i := range len(key) {
		hash = (hash ^ uint32(key[i])) * 16777619
	}
	return int(hash % shardCount)
}

// get returns the zero value for a missing key.
func (t *table[V]) get(key string) V { return t.shards[shardOf(key)][key] }

// draft is a copy-on-write copy of a table.
type draft[V any] struct {
	of  *table[V]
	own [shardCount]bool
}

func (d *draft[V]) shard(key string) map[string]V {
	i := shardOf(key)
	if !d.own[i] {
		d.own[i] = true
		if d.of.shards[i] = maps.Clone(d.of.shards[i]); d.of.shards[i] == nil {
			d.of.shards[i] = map[string]V{}
		}
	}
	return d.of.shards[i]
}

func (d *draft[V]) put(key string, v V) { d.shard(key)[key] = v }

func (d *draft[V]) remove(key string) { delete(d.shard(key), key) }
