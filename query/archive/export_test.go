package archive

import (
	"context"
	"net/http"
)

// Create creates the bucket.
func (b *Bucket) Create(ctx context.Context) error {
	whole := *b
	whole.Prefix = ""
	reply, err := whole.do(ctx, http.MethodPut, "", http.NoBody, 0, emptySum)
	if err != nil {
		return err
	}
	return reply.Body.Close()
}
