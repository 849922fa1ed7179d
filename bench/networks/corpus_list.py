"""Small networks from torchvision, timm, transformers and keras; each name has a module with inputs.

Weights are random. Sizes are small, so that all can be tuned in an hour; the operators and their order are those of the large networks.
"""
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import torch  # noqa: E402
from torch import nn  # noqa: E402

import detectors  # noqa: E402

TEXT = {"vocab_size": 100, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "max_position_embeddings": 64}


def image(size):
    return (torch.randn(1, 3, size, size),)


def vision(name, size=64, **options):
    import torchvision
    return getattr(torchvision.models, name)(weights=None, num_classes=10, **options), image(size)


class Segmented(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x)["out"]


def segmentation(name, size=64):
    import torchvision
    return Segmented(getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None, num_classes=5)), image(size)


def video(name):
    import torchvision
    return getattr(torchvision.models.video, name)(weights=None, num_classes=10), (torch.randn(1, 3, 4, 32, 32),)


def timm(name, size=64, **options):
    import timm as package
    return package.create_model(name, pretrained=False, num_classes=10, **options), image(size)


class First(nn.Module):
    """Passes inputs to a transformers model by name and returns its first result."""

    def __init__(self, module, names):
        super().__init__()
        self.module, self.names = module, names

    def forward(self, *values):
        return self.module(**dict(zip(self.names, values)), return_dict=False)[0]


def transformer(kind, inputs, head="AutoModel", **options):
    import transformers
    config = transformers.AutoConfig.for_model(kind, **options)
    config.use_cache = False
    config._attn_implementation = "eager"
    return First(getattr(transformers, head).from_config(config), list(inputs)), tuple(inputs.values())


def tokens(length=16, count=100):
    return torch.randint(1, count, (1, length))


def text(kind, head="AutoModel", masked=False, **options):
    inputs = {"input_ids": tokens()} | ({"attention_mask": torch.ones(1, 16, dtype=torch.int64)} if masked else {})
    return transformer(kind, inputs, head, **(TEXT | options))


def keras(name, size=64, **options):
    import keras as package
    return getattr(package.applications, name)(weights=None, classes=10, input_shape=(size, size, 3), **options), (torch.randn(1, size, size, 3),)


def keras_layers(shape, *layers):
    import keras as package
    made = package.Sequential([package.layers.Input(shape), *(getattr(package.layers, name)(**options) for name, options in layers)])
    return made, (torch.randn(1, *shape),)


GATED = {"num_key_value_heads": 2}
DECODER = {"decoder_layers": 2, "encoder_layers": 2, "d_model": 64, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "vocab_size": 100,
           "max_position_embeddings": 64}
NETWORKS = {
    "tv_alexnet": lambda: vision("alexnet"),
    "tv_squeezenet": lambda: vision("squeezenet1_1"),
    "tv_shufflenet": lambda: vision("shufflenet_v2_x0_5"),
    "tv_mnasnet": lambda: vision("mnasnet0_5"),
    "tv_resnet18": lambda: vision("resnet18"),
    "tv_regnet_x": lambda: vision("regnet_x_400mf"),
    "tv_regnet_y": lambda: vision("regnet_y_400mf"),
    "tv_googlenet": lambda: vision("googlenet", aux_logits=False, init_weights=False),
    "tv_lraspp": lambda: segmentation("lraspp_mobilenet_v3_large"),
    "tv_deeplab": lambda: segmentation("deeplabv3_mobilenet_v3_large"),
    "tv_mc3": lambda: video("mc3_18"),
    "timm_vit": lambda: timm("test_vit", 160),
    "timm_vit3": lambda: timm("test_vit3", 160),
    "timm_efficientnet": lambda: timm("test_efficientnet"),
    "timm_efficientnet_gn": lambda: timm("test_efficientnet_gn"),
    "timm_byobnet": lambda: timm("test_byobnet"),
    "timm_convnext": lambda: timm("test_convnext"),
    "timm_nfnet": lambda: timm("test_nfnet"),
    "timm_mambaout": lambda: timm("test_mambaout"),
    "timm_mixer": lambda: timm("mixer_s32_224", 224),
    "timm_gmlp": lambda: timm("gmlp_ti16_224", 224),
    "timm_poolformer": lambda: timm("poolformer_s12"),
    "timm_edgenext": lambda: timm("edgenext_xx_small"),
    "timm_mobilevit": lambda: timm("mobilevit_xxs"),
    "timm_mobilevitv2": lambda: timm("mobilevitv2_050"),
    "timm_levit": lambda: timm("levit_128s", 224),
    "timm_xcit": lambda: timm("xcit_nano_12_p16_224", 224),
    "timm_ghostnet": lambda: timm("ghostnet_050"),
    "timm_repvgg": lambda: timm("repvgg_a0"),
    "timm_fastvit": lambda: timm("fastvit_t8"),
    "timm_efficientvit": lambda: timm("efficientvit_b0"),
    "timm_hrnet": lambda: timm("hrnet_w18_small"),
    "timm_swinv2": lambda: timm("swinv2_cr_tiny_ns_224", 64, img_size=64, window_size=2, depths=(1, 1, 1, 1)),
    "timm_convit": lambda: timm("convit_tiny", 224, depth=3),
    "hf_bert": lambda: text("bert", masked=True),
    "hf_roberta": lambda: text("roberta", "AutoModelForSequenceClassification", masked=True, max_position_embeddings=80),
    "hf_albert": lambda: text("albert", embedding_size=32),
    "hf_electra": lambda: text("electra", embedding_size=32),
    "hf_deberta": lambda: text("deberta-v2", relative_attention=True, pos_att_type=["p2c", "c2p"]),
    "hf_mpnet": lambda: text("mpnet"),
    "hf_gpt2": lambda: transformer("gpt2", {"input_ids": tokens()}, "AutoModelForCausalLM", vocab_size=100, n_embd=64, n_layer=2, n_head=4, n_positions=64),
    "hf_gpt_neox": lambda: text("gpt_neox", "AutoModelForCausalLM"),
    "hf_llama": lambda: text("llama", "AutoModelForCausalLM", **GATED),
    "hf_qwen2": lambda: text("qwen2", "AutoModelForCausalLM", **GATED),
    "hf_gemma2": lambda: text("gemma2", "AutoModelForCausalLM", head_dim=16, **GATED),
    "hf_phi": lambda: text("phi", "AutoModelForCausalLM"),
    "hf_opt": lambda: text("opt", "AutoModelForCausalLM", word_embed_proj_dim=64, ffn_dim=128),
    "hf_bloom": lambda: transformer("bloom", {"input_ids": tokens()}, "AutoModelForCausalLM", vocab_size=100, hidden_size=64, n_layer=2, n_head=4),
    "hf_t5": lambda: transformer("t5", {"input_ids": tokens()}, "AutoModelForTextEncoding", vocab_size=100, d_model=64, d_ff=128, num_layers=2, num_heads=4, d_kv=16),
    "hf_bart": lambda: transformer("bart", {"input_ids": tokens(), "decoder_input_ids": tokens(8)}, **DECODER),
    "hf_whisper": lambda: transformer("whisper", {"input_features": torch.randn(1, 80, 60), "decoder_input_ids": tokens(8)}, **(DECODER | {"max_source_positions": 30, "max_target_positions": 32,
                                                                                                                             "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2})),
    "hf_wav2vec2": lambda: transformer("wav2vec2", {"input_values": torch.randn(1, 1600)}, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, conv_dim=[32] * 7,
                                       num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4),
    "hf_segformer": lambda: transformer("segformer", {"pixel_values": image(64)[0]}, "AutoModelForSemanticSegmentation", depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 64, 64], decoder_hidden_size=32),
    "hf_clip": lambda: transformer("clip_vision_model", {"pixel_values": image(64)[0]}, image_size=64, patch_size=16, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4),
    "hf_mamba": lambda: transformer("mamba", {"input_ids": tokens()}, vocab_size=100, hidden_size=64, num_hidden_layers=1, state_size=8),
    "keras_mobilenet": lambda: keras("MobileNet", alpha=0.25),
    "keras_xception": lambda: keras("Xception", 71),
    "keras_autoencoder": lambda: keras_layers((32, 32, 3), ("Conv2D", {"filters": 8, "kernel_size": 3, "strides": 2, "padding": "same", "activation": "relu"}), ("BatchNormalization", {}),
                                              ("Conv2DTranspose", {"filters": 8, "kernel_size": 3, "strides": 2, "padding": "same"}), ("Conv2D", {"filters": 3, "kernel_size": 3, "padding": "same"})),
    "keras_lstm": lambda: keras_layers((12, 8), ("LSTM", {"units": 16}), ("Dense", {"units": 4})),
}
# Exported by tracing, as many published files are.
TRACED = frozenset(name for i, name in enumerate(sorted(NETWORKS)) if i % 3 == 0 and name not in ("tv_alexnet", "hf_gpt_neox", "hf_qwen2")) | frozenset(detectors.NETWORKS)
NETWORKS |= detectors.NETWORKS
