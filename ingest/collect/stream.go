package collect

import (
	"context"
	"time"

	"vayu/ingest/source/described"
	"vayu/ingest/stream"
	"vayu/ingest/stream/mqtt"
	"vayu/internal/leader"
)

// receive receives the messages of a source until ctx ends or quit is closed. The broker keeps unacknowledged messages
// for the next instance.
func (c *Collector) receive(ctx context.Context, w World, d *described.Description, fence leader.Fence, quit <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	of, log := d.Stream(time.Now), c.Log.With("world", w.World)
	p := stream.NewProcessor(stream.Config{
		Source: d.Name, ConfigSHA256: d.SHA256, MaxSilence: of.Subscription.MaxSilence, Decoder: of.NewDecoder(),
		Store: &fencedArchive{w.Archive, fence}, Journal: w.Journal, Metrics: c.streams, Log: log,
		Changed: func() { c.rollUps[w.World].changed(ctx, false) },
	})
	subscriber := mqtt.Subscriber{
		Settings: of.Subscription.Settings, Process: p.Process, Connected: p.Connected, Failed: p.ConnectionFailed, Repeated: p.Repeated,
		Name: d.Name, Log: log,
	}
	return p.Run(ctx, subscriber.Run)
}
