"""Our tasks as a taskset of verifiers: `vf-eval tucano-commerce`, and training with what reads its tasksets.

The reward is the total of a reward set, as in our own training; what each component gives, and the truth, are metrics,
which weigh nothing.
"""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import httpx
import verifiers.v1 as vf

from tucano.environments.questions import Split, questions, reward_of, truth_of
from tucano.settings.base import RewardSetName


class CommerceData(vf.TaskData):
    """`asked`: the fields of a `Prompt`."""

    asked: dict[str, Any]
    rewards: RewardSetName
    databases: str


class CommerceTask(vf.Task[CommerceData]):
    """One prompt, asked once."""

    @vf.reward
    async def reward(self, trace: vf.Trace) -> float:
        score = reward_of(self.data.asked, _answer(trace), self.data.rewards, self.data.databases)
        trace.record_metrics(score.components)
        return score.total

    @vf.metric
    async def truth(self, trace: vf.Trace) -> dict[str, float]:
        found = truth_of(self.data.asked, _answer(trace), self.data.databases)
        return {} if found is None else {"truth": found}


def _answer(trace: vf.Trace) -> str:
    return (trace.assistant_messages[-1].content or "") if trace.assistant_messages else ""


class CommerceConfig(vf.TasksetConfig):
    """Which prompts; see `tucano.environments.questions`."""

    prompts: str | None = None
    split: Split = "test"
    tasks: str | None = None
    count: int = 130
    seed: int = 7
    rewards: RewardSetName = "grounded"


class CommerceTaskset(vf.Taskset[CommerceTask, CommerceConfig]):
    """All tasks or some."""

    def load(self) -> Iterator[CommerceTask]:
        config = self.config
        asked = questions(config.prompts, config.split, config.tasks, config.count, config.seed)
        for prompt in asked.prompts:
            data = CommerceData(
                name=prompt.id,
                prompt=prompt.user,
                system_prompt=asked.systems[prompt.task],
                asked=asdict(prompt),
                rewards=config.rewards,
                databases=str(asked.databases),
            )
            yield CommerceTask(data, config.task)


class OneRequest(vf.Harness[vf.HarnessConfig]):
    """Asks for one answer from this process: those of verifiers start a program with an environment for each."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        system, user = self.resolve_text_prompt(data)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, timeout=None) as client:
            body = {"model": ctx.model, "messages": messages}
            reply = await client.post(f"{endpoint}/chat/completions", json=body)
        return vf.ProgramResult(int(reply.is_error), "", reply.text if reply.is_error else "")


class CommerceEnvConfig(vf.EnvConfig):
    """Asked from this machine; verifiers would rent another."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class CommerceEnv(vf.Env[CommerceEnvConfig]):
    """One agent that answers once."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        await agents.agent.run(task)
