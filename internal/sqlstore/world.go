package sqlstore

import (
	"context"

	"vayu/schema"
)

// worldKey is the context key under which WithWorld stores the world.
type worldKey struct{}

// WithWorld returns a context that marks the changes made with it as changes of a world, live or
// sandbox. The store serves the live world first, so that the free sandbox does not delay paying
// customers. Changes without a world count as live.
func WithWorld(ctx context.Context, w schema.World) context.Context {
	if w != schema.Sandbox {
		return ctx
	}
	return context.WithValue(ctx, worldKey{}, w)
}

// WorldOf returns the world that WithWorld set in ctx, or live if ctx has none.
func WorldOf(ctx context.Context) schema.World {
	w, _ := ctx.Value(worldKey{}).(schema.World)
	return w
}

// groupKey is the context key under which WithGroup stores the name of a group.
type groupKey struct{}

// WithGroup returns a context for changes of an owner, in the owner's world. On PostgreSQL, waiting changes of the same
// kind and owner share a transaction, because each one locks the owner's rows, such as the wallet.
func WithGroup(ctx context.Context, kind string, o schema.Owner) context.Context {
	return context.WithValue(WithWorld(ctx, o.World), groupKey{}, kind+" "+o.World.String()+" "+o.Account)
}
