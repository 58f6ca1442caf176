"""What the keys of the main screen do."""

from __future__ import annotations

from pathlib import Path

from autograd_core.dag.turns import turn
from autograd_core.debug.records.snapshot import Reply
from tui.app.looking import Looking
from tui.app.plan.picture import write_picture
from tui.app.sections.page import PointTarget
from tui.app.sections.value import value_text
from tui.app.widgets.help import HelpScreen


class Actions(Looking):
    """The keys that make the session do something, and those that leave."""

    # -- moving --------------------------------------------------------------

    async def action_step(self, command: str) -> None:
        count = self.take_count()
        await self.send(command if count == 1 else f"{command} {count}")

    async def action_command(self, line: str) -> None:
        self.take_count()
        await self.send(self._filled(line))

    def _filled(self, line: str) -> str:
        return line.replace("{node}", turn(self.rows.selected))

    async def action_until(self) -> None:
        if self.chosen is not None:
            target = self.chosen.target
            if target is not None and target.node >= 0:
                self.select_node(target.node)
            return
        await self.go_to(self.take_turn())

    async def go_to(self, node: int) -> None:
        """Run on to a node, or go back to it."""
        if node < self.snapshot.position or self.snapshot.phase:
            await self.send(f"jump {turn(node)}")
        elif node > self.snapshot.position:
            await self.send(f"until {turn(node)}")
        else:
            self.show_reply(Reply(f"node {turn(node)} is the current one already"))

    async def action_along(self, step: int) -> None:
        stride = max(1, self.snapshot.length // 20) * self.take_count()
        there = max(0, min(self.snapshot.length, self.snapshot.position + step * stride))
        await self.send(f"jump {turn(there) if there < self.snapshot.length else 'end'}")

    # -- breakpoints ---------------------------------------------------------

    async def action_toggle_breakpoint(self) -> None:
        index = self.rows.selected
        here = [stop for stop in self.snapshot.breakpoints if index in stop.indices]
        # the one that stands on this row alone goes first
        here.sort(key=lambda stop: len(stop.indices))
        await self.send(f"delete {here[0].number}" if here else f"break {turn(index)}")

    def _marked_point(self) -> int | None:
        target = self.chosen.target if self.chosen is not None else None
        if isinstance(target, PointTarget):
            return target.number
        self.show_reply(Reply("choose a breakpoint first: w goes to the pane breakpoints"))
        return None

    async def action_toggle_point(self) -> None:
        number = self._marked_point()
        for point in self.snapshot.breakpoints:
            if point.number == number:
                await self.send(f"{'disable' if point.enabled else 'enable'} {number}")

    async def action_delete_point(self) -> None:
        number = self._marked_point()
        if number is not None:
            await self.send(f"delete {number}")

    # -- changing and checking -----------------------------------------------

    async def action_zero(self) -> None:
        if self.count:
            self.add_digit("0")
        else:
            await self.action_command("zero {node}")

    async def action_difference(self) -> None:
        await self.send("difference")
        self.show_section("changes")

    async def action_check(self) -> None:
        await self.send(f"check {turn(self.rows.selected)}")
        self.show_section("check")

    # -- asking, keeping, leaving --------------------------------------------

    def action_prompt(self, text: str) -> None:
        self.open_prompt(self._filled(text))

    def action_copy(self, what: str) -> None:
        index = self.rows.selected
        text = self.snapshot.graph.address(index)
        if what == "value":
            try:
                text = value_text(self.session.detail(index))
            except ValueError as error:
                self.show_reply(Reply(str(error), error=True))
                return
        if text:
            self.app.copy_to_clipboard(text)
            self.show_reply(Reply(f"copied the {what} of {turn(index)}"))
        else:
            self.show_reply(Reply(f"no gradient has arrived at {turn(index)}", error=True))

    async def action_picture(self) -> None:
        snapshot, index = self.snapshot, self.rows.selected

        def work() -> Reply:
            return Reply(f"written: {write_picture(self.session, snapshot, index)}")

        await self.perform("drawing", work)

    def action_photograph(self) -> None:
        path = Path(f"screen-{self.snapshot.call}-at-{self.snapshot.position}.svg").resolve()
        try:
            path.write_text(self.app.export_screenshot(), encoding="utf-8")
        except OSError as error:
            self.show_reply(Reply(f"cannot write {path}: {error.strerror}", error=True))
        else:
            self.show_reply(Reply(f"written: {path}"))

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen())

    def action_escape(self) -> None:
        self.take_count()
        if not self.pause():
            self.choose_pane(None)

    def action_leave(self, outcome: str) -> None:
        self.leave(outcome)
