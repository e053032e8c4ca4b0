package ingest

import (
	"context"
	"fmt"
	"sync"
)

// Paths records, for each path of a field in a source description (YAML), whether any record has that field. A preview
// shows the absent paths, because a wrong path of an optional field causes no error. Paths is safe for concurrent use.
// A nil Paths records nothing.
type Paths struct {
	mu  sync.Mutex
	all []*Path
	at  map[string]*Path // by Path.Key
}

// Path is the path of a field in a source description (YAML). [Paths.Absent] returns the paths at which no record has a
// field.
type Path struct {
	// Key is the key in the description, such as quality.status. Path is the value of that key: the path of a field.
	Key  string `json:"key"`
	Path string `json:"path"`
	// Records is the number of searched records.
	Records int `json:"records"`

	seen bool
}

// String returns a sentence about the path, for users.
func (p Path) String() string {
	return fmt.Sprintf("%s: no field %q in any of %d records", p.Key, p.Path, p.Records)
}

// Note adds the result of a search for a field. `key` is the key of the source description that has the path. `records`
// is the number of searched records, and `seen` states whether any of them has the field.
func (p *Paths) Note(key, path string, records int, seen bool) {
	if p == nil || records == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.at[key]
	if one == nil {
		if p.at == nil {
			p.at = make(map[string]*Path)
		}
		one = &Path{Key: key, Path: path}
		p.at[key] = one
		p.all = append(p.all, one)
	}
	one.Records += records
	one.seen = one.seen || seen
}

// Absent returns the paths at which no record has a field.
func (p *Paths) Absent() []Path {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var absent []Path
	for _, one := range p.all {
		if !one.seen {
			absent = append(absent, *one)
		}
	}
	return absent
}

// PathsOf returns the Paths of the context's recorder, or nil if the context has none.
func PathsOf(ctx context.Context) *Paths { return RecorderOf(ctx).paths() }

// paths returns the Paths that the caller of the fetch has set in the recorder, or nil if there is none.
func (r *Recorder) paths() *Paths {
	if r == nil {
		return nil
	}
	return r.Paths
}

// Paths returns the [Paths] in which a source records its searches for fields, or nil if the caller of the fetch has
// set none.
func (b *Builder) Paths() *Paths { return b.recorder.paths() }
