package export

import (
	"errors"
	"io"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// span is the range of bytes that a client requests. A negative `first` counts from the end of the file.
type span struct{ first, last int64 }

// within returns the first and the last byte of the range in a file of the given size.
func (p span) within(size int64) (from, to int64) {
	if p.first < 0 {
		return max(0, size+p.first), size - 1
	}
	return p.first, min(p.last, size-1)
}

// parseRange parses a Range header with a single range of bytes. It returns nil for other headers, which a server may
// ignore.
func parseRange(text string) *span {
	text, ok := strings.CutPrefix(text, "bytes=")
	first, last, dash := strings.Cut(text, "-")
	if !ok || !dash {
		return nil
	}
	p := span{last: math.MaxInt64}
	var err error
	if first == "" {
		if p.first, err = strconv.ParseInt(last, 10, 64); err != nil || p.first <= 0 {
			return nil
		}
		p.first = -p.first
		return &p
	}
	if p.first, err = strconv.ParseInt(first, 10, 64); err != nil || p.first < 0 {
		return nil
	}
	if last != "" {
		if p.last, err = strconv.ParseInt(last, 10, 64); err != nil || p.last < p.first {
			return nil
		}
	}
	return &p
}

// rangeOf returns the range of the reply; nil for the whole file. A client must not combine ranges of two versions of
// the data. So for a range that does not begin with the first byte, the client must name the version (If-Range,
// If-Match). Otherwise the account must have begun no other version in the last 24 hours, as `began` records.
func rangeOf(c *httpapi.Call, tag string, began file) (*span, error) {
	part := parseRange(c.Header.Get("Range"))
	if part == nil {
		return nil, nil
	}
	condition := c.Header.Get("If-Range")
	switch {
	case condition != "":
		if condition != tag {
			return nil, nil // the whole file of the present version (RFC 9110, 13.1.5)
		}
	case slices.Equal(c.Header["If-Match"], []string{tag}): // a list or * names no version
	case part.first == 0: // no earlier bytes with which the client could combine the range
	case began.tag == "":
		return nil, nameVersion("The service has no record of the beginning of the file")
	case began.mixed:
		return nil, nameVersion("The account has begun several versions of the file")
	case began.tag != tag:
		return nil, changed()
	}
	return part, nil
}

func nameVersion(reason string) error {
	return schema.NewProblem(schema.PreconditionFailed, "If-Range",
		reason+". To continue it, send the ETag that came with its first bytes in the header If-Range, or read the whole file again.")
}

func changed() error {
	return schema.NewProblem(schema.PreconditionFailed, "If-Match", "The data have changed since the export began. Read the whole file again.")
}

// listed reports whether a header contains a tag or the wildcard *.
func listed(headers []string, tag string) bool {
	for _, header := range headers {
		for one := range strings.SplitSeq(header, ",") {
			if one = strings.TrimSpace(one); one == tag || one == "*" {
				return true
			}
		}
	}
	return false
}

// canonical returns the parameters as text, in a fixed order.
func canonical(params map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		all = append(all, name+"="+url.QueryEscape(params[name]))
	}
	return strings.Join(all, "&")
}

// remembered is how long the service stores that an account has begun an export, so that a client can continue it.
const remembered = 24 * time.Hour

// file is an export that an account has begun to read.
type file struct {
	tag   string // of the version that was begun last; "" for none
	mixed bool   // the account has begun another version, too
	until time.Time
}

// started stores which exports accounts have begun, so that clients can continue them. A request for a range of a begun
// export counts towards the quota only by the range's share of the file. started also caches the sizes of files.
type started struct {
	mu    sync.Mutex
	files map[string]file
	sizes []sized
}

type sized struct {
	tag  string
	size int64
}

// These are the largest numbers of entries in started.files and started.sizes.
const (
	mostFiles = 10_000
	mostSizes = 256
)

// find returns the entry of an export; the zero value if there is none or it has expired.
func (s *started) find(name string, now time.Time) file {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[name]; now.Before(f.until) {
		return f
	}
	return file{}
}

// add records that the export `name` was begun in the version `tag`. If there are mostFiles entries, add first discards
// the expired ones. If none has expired, it discards all entries.
func (s *started) add(name, tag string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.files[name]
	if !now.Before(before.until) {
		before = file{}
	}
	if len(s.files) >= mostFiles {
		maps.DeleteFunc(s.files, func(_ string, f file) bool { return !now.Before(f.until) })
	}
	if len(s.files) >= mostFiles {
		clear(s.files)
	}
	s.files[name] = file{tag: tag, mixed: before.mixed || before.tag != "" && before.tag != tag, until: now.Add(remembered)}
}

// size returns the size of the file with a tag. If the size is not cached, it calls `measure`.
func (s *started) size(tag string, measure func() (int64, error)) (int64, error) {
	s.mu.Lock()
	for _, one := range s.sizes {
		if one.tag == tag {
			s.mu.Unlock()
			return one.size, nil
		}
	}
	s.mu.Unlock()
	n, err := measure()
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sizes) == mostSizes {
		s.sizes = s.sizes[1:]
	}
	s.sizes = append(s.sizes, sized{tag, n})
	return n, nil
}

// errFull ends an export when the requested range has been written.
var errFull = errors.New("the range is complete")

// limited is a writer that writes at most `left` bytes. It calls `check` before it writes the last of these bytes.
type limited struct {
	w     io.Writer
	left  int64
	check func() error
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	part := p[:min(int64(len(p)), l.left)]
	if l.left > 0 && int64(len(part)) == l.left {
		if err := l.check(); err != nil {
			return 0, err
		}
	}
	n, err := l.w.Write(part)
	l.left -= int64(n)
	if err == nil && l.left == 0 && len(part) < len(p) {
		err = errFull
	}
	return n, err
}

// lastByte is a writer that holds back the last byte until the call of end.
type lastByte struct {
	httpapi.Flusher

	last []byte // at most one byte
}

// Write implements io.Writer.
func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := l.end(); err != nil {
		return 0, err
	}
	n, err := l.Flusher.Write(p[:len(p)-1])
	if err != nil {
		return n, err
	}
	l.last = append(l.last, p[n])
	return len(p), nil
}

// end writes the last byte, if there is one.
func (l *lastByte) end() error {
	_, err := l.Flusher.Write(l.last)
	l.last = l.last[:0]
	return err
}
