package listen

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
)

// subscribe makes the subscription, takes its secret, and greets.
func (l *Listener) subscribe(ctx context.Context, address string) (id string, err error) {
	w := wanted{URL: address}
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
	l.printer.say(fmt.Sprintf(`Listening on %s for the subscription %s (%s), which ends with this command: Ctrl-C.
Its certificate is of the authority %s, which `+"`vayu serve --webhook-local`"+` believes.

Send yourself a test event:

  curl -X POST -H "Authorization: Bearer %s" -H "Content-Type: application/json" -d '{}' %s/v1/webhooks/%s/test

`, address, made.ID, oneLine(made.Mode), filepath.Join(l.Data, Folder, certificateName), l.Client.KeyShown, l.Client.API, made.ID))
	return made.ID, nil
}

// unsubscribe ends the subscription, although ctx has ended.
func (l *Listener) unsubscribe(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := l.Client.remove(limit, id); err != nil {
		return fmt.Errorf("deleting the subscription %s, which goes on: %w", id, err)
	}
	l.printer.say(fmt.Sprintf("\nThe subscription %s is deleted.\n", id))
	return nil
}
