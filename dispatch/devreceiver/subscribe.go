package devreceiver

import (
	"context"
	"fmt"
	"slices"
)

// subscribe deletes subscriptions of killed runs, creates a new one and prints the welcome text.
func (l *Listener) subscribe(ctx context.Context, address string) (id string, err error) {
	if err := l.clear(ctx, address); err != nil {
		return "", err
	}
	w := createRequest{URL: address}
	if len(l.Secrets) > 0 {
		w.Secret = l.Secrets[0]
	}
	made, err := l.Client.create(ctx, w)
	if err != nil {
		return "", err
	}
	if made.Secret != "" {
		l.Secrets = append(slices.Clip(l.Secrets), made.Secret)
	}
	l.greet(address, made, l.Client.account(ctx))
	return made.ID, nil
}

// clear deletes existing subscriptions to this receiver's address. A killed run has left
// them, because no other process can have the port now.
func (l *Listener) clear(ctx context.Context, address string) error {
	ids, err := l.Client.leading(ctx, address)
	if err != nil {
		return fmt.Errorf("looking for subscriptions that were left behind: %w", err)
	}
	for _, id := range ids {
		if err := l.Client.remove(ctx, id); err != nil {
			return fmt.Errorf("deleting the subscription %s to %s, which was left behind: %w", id, address, err)
		}
		l.printer.write(fmt.Sprintf("The subscription %s to %s was left behind, by a command that was killed perhaps; it is deleted.\n", id, address))
	}
	return nil
}

// try requests a test event if Client.Test is set. It prints a failure, and does not return it.
func (l *Listener) try(ctx context.Context, id string) {
	if id == "" || !l.Client.Test {
		return
	}
	if err := l.Client.test(ctx, id); err != nil && ctx.Err() == nil {
		l.printer.write(fmt.Sprintf("\nNo test event is on its way: %v\n", err))
	}
}

// unsubscribe deletes the subscription after ctx has ended.
func (l *Listener) unsubscribe(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := l.Client.remove(limit, id); err != nil {
		return fmt.Errorf("deleting the subscription %s, which goes on: %w", id, err)
	}
	l.printer.write(fmt.Sprintf("\nThe subscription %s is deleted.\n", id))
	return nil
}
