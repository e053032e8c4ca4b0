package described

import (
	"context"
	"net/url"
	"path/filepath"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described/budget"
	"vayu/ingest/source/described/fileset"
	"vayu/ingest/source/described/storage"
	"vayu/ingest/source/file/table"
	"vayu/internal/config/section"
)

// readFiles reads the keys of a source that reads files.
func (d *Description) readFiles(root *section.Section) {
	d.readFeed(root)
	d.readLimits(root.Section("request"))
	d.auth = readAuth(root.Section("auth"))
	d.partitions = d.readListing(root, "partitions", d.auth)
	d.stations = d.readListing(root, "stations", d.auth)
	var parts []string
	if d.partitions != nil {
		parts = d.partitions.names
	}
	d.budget = budget.Read(root.Section("budget"))
	d.files = fileset.Read(root.Section("files"), parts, d.local)
	d.Feed.AnyWindow = d.files.Dated()
}

// fileSource returns the source of a description that has the section `files`.
func (d *Description) fileSource(c *budget.Caller, clock func() time.Time) *fileset.Source {
	query := url.Values{}
	if d.auth.query != "" {
		query.Set(d.auth.query, d.auth.queryValue)
	}
	// `lists` is a second source that fetches the lists of partitions and stations. It shares the call budget with the
	// downloads.
	lists := &Source{d: d, clock: clock, caller: c}
	return d.files.New(fileset.Params{
		Name: d.Name, Lookback: d.Feed.Lookback, Lag: d.mapping.Lag(), Client: c, Clock: clock, Clean: d.clean,
		Web: storage.Web{Header: d.auth.header, Query: query, Clean: d.clean},
		Begin: func(ctx context.Context, w ingest.Window) ([]map[string]string, fileset.ReadFile, error) {
			return lists.beginFiles(ctx, w, clock())
		},
	})
}

// beginFiles fetches the lists of partitions and stations. It returns the function that reads a file, and the fields of
// the partitions. It omits partitions whose newest reading is older than the window.
func (s *Source) beginFiles(ctx context.Context, w ingest.Window, now time.Time) ([]map[string]string, fileset.ReadFile, error) {
	window := s.fields(w, nil)
	listed, err := s.listStations(ctx, window)
	if err != nil {
		return nil, nil, err
	}
	var parts []map[string]string
	if s.d.partitions != nil {
		entries, err := s.d.partitions.fetch(ctx, s, window)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			if e.newest.IsZero() || !e.newest.Before(w.From) {
				parts = append(parts, e.fields)
			}
		}
	}
	besides := make(map[string]map[string]map[string]string) // fields of the listed stations, by folder of the list and id of the station
	read := func(in *table.Input, file, part map[string]string, b *ingest.Builder) (int, error) {
		stations := listed
		if folder := filepath.Dir(in.Path); stations == nil && s.d.files.InFolder() {
			var known bool
			if stations, known = besides[folder]; !known {
				var err error
				if stations, err = s.d.besides(folder); err != nil {
					return 0, err
				}
				besides[folder] = stations
			}
		}
		sink := s.d.mapping.NewSink(b, now, stations)
		b.Describe(func() (int64, string) {
			number, text := sink.Record()
			return number, s.d.clean(text)
		})
		err := sink.Read(in, file, part, nil)
		if err == nil {
			err = s.d.unlisted(sink.Check(), stations)
		}
		return sink.Readings(), err
	}
	return parts, read, nil
}
