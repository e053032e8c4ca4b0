package runner

import (
	"context"
	"time"

	"vayu/ingest"
	"vayu/schema/air"
)

// Sample is the result of a trial fetch, which stores nothing.
type Sample struct {
	Readings []air.Reading // the first ones, up to the limit of FetchSample
	Count    int           // number of all readings and bulletins
	// Bulletins are the first bulletins, up to the limit of FetchSample.
	Bulletins []air.Bulletin
	Newest    time.Time // end of the averaging interval of the newest reading; zero for none
	// Stations describes the stations of the readings, in order of arrival.
	Stations []air.Station
	Rejected ingest.Rejections
	Values   []ingest.RejectedValue // the first rejected values of each reason
}

// FetchSample fetches the window w and stores nothing. The sample has at most `most` readings and `most` bulletins. If
// the source fails, the sample has the data from before the failure. A panic of the source becomes an error.
func FetchSample(ctx context.Context, src ingest.Source, w ingest.Window, most int) (Sample, error) {
	var sample Sample
	var run ingest.Run // counts, and limits how many rejected values are kept
	at := make(map[string]int)
	keep := func(_ context.Context, b *ingest.Batch) error {
		for row := range min(b.Rows(), most-len(sample.Readings)) {
			sample.Readings = append(sample.Readings, b.Reading(row))
		}
		sample.Bulletins = append(sample.Bulletins, b.Bulletins[:min(len(b.Bulletins), most-len(sample.Bulletins))]...)
		for _, s := range b.Stations {
			if i, known := at[s.ID]; known {
				sample.Stations[i] = s
				continue
			}
			at[s.ID] = len(sample.Stations)
			sample.Stations = append(sample.Stations, s)
		}
		run.Add(b)
		return nil
	}
	_, err := transfer(ctx, src, w, func(context.Context, *ingest.Batch) error { return nil }, keep)
	sample.Count, sample.Newest, sample.Rejected, sample.Values = run.Stored, run.Newest, run.Rejected, run.Values
	return sample, err
}
